// SPDX-License-Identifier: Apache-2.0
//! Notice of a change of this client's address that somebody else makes in the middle of a transfer.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// The change of the client's address, as a job tells it.
#[derive(Debug, Clone, Deserialize)]
pub struct AddressChange {
    /// Bytes of the body after which it is to happen: this client says when it has them.
    pub after_bytes: Option<u64>,
    pub notice: Kind,
    pub timeout_ns: Option<u64>,
    /// The pipe into which it says so.
    pub reached: PathBuf,
}

/// Source of the notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A line on stdin, at once.
    Told,
    /// An error of its socket, which was destroyed.
    Reset,
    /// Silence: nothing has come for as long as the job says.
    Timeout,
}

/// Waits for the word.
pub struct Notice {
    change: AddressChange,
    said: bool,
    noticed: bool,
    last_packet: Instant,
    deaf: bool,
}

impl Notice {
    /// Nothing has happened yet.
    pub fn new(change: AddressChange) -> Self {
        Self {
            change,
            said: false,
            noticed: false,
            last_packet: Instant::now(),
            deaf: false,
        }
    }

    /// File to wait for beside the sockets.
    pub fn file(&self) -> Option<RawFd> {
        let listens = self.change.notice == Kind::Told && !self.noticed && !self.deaf;
        listens.then_some(libc::STDIN_FILENO)
    }

    /// The instant at which the silence has lasted long enough; it counts from the first byte of the body.
    pub fn deadline(&self, received: u64) -> Option<Instant> {
        let patience = Duration::from_nanos(self.change.timeout_ns?);
        let waits = self.change.notice == Kind::Timeout && !self.noticed && received > 0;
        waits.then(|| self.last_packet + patience)
    }

    /// Say once that so many bytes of the body have come.
    pub fn say(&mut self, received: u64) -> io::Result<()> {
        if self.said || self.change.after_bytes.is_none_or(|after| received < after) {
            return Ok(());
        }
        self.said = true;
        let mut pipe = OpenOptions::new().write(true).open(&self.change.reached)?;
        pipe.write_all(format!("{received}\n").as_bytes())
    }

    /// Something has come.
    pub fn packet(&mut self) {
        self.last_packet = Instant::now();
    }

    /// True if the client learns of the change now: once, and only in the way that it was meant to.
    pub fn comes(&mut self, reset: bool, received: u64) -> bool {
        if self.noticed {
            return false;
        }
        self.noticed = match self.change.notice {
            Kind::Told => self.word(),
            Kind::Reset => reset,
            Kind::Timeout => self
                .deadline(received)
                .is_some_and(|deadline| deadline <= Instant::now()),
        };
        self.noticed
    }

    fn word(&mut self) -> bool {
        if self.deaf || !readable(libc::STDIN_FILENO) {
            return false;
        }
        let mut buffer = [0_u8; 64];
        // SAFETY: the buffer is as long as said.
        let length =
            unsafe { libc::read(libc::STDIN_FILENO, buffer.as_mut_ptr().cast(), buffer.len()) };
        self.deaf = length <= 0;
        length > 0
    }
}

fn readable(file: RawFd) -> bool {
    let mut polled = libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid pollfd, no waiting.
    unsafe { libc::poll(&raw mut polled, 1, 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(notice: Kind, timeout_ns: Option<u64>) -> AddressChange {
        AddressChange {
            after_bytes: Some(10),
            notice,
            timeout_ns,
            reached: std::env::temp_dir().join(format!("reached-{}", std::process::id())),
        }
    }

    /// Once, with the number of bytes, and not before they are there.
    #[test]
    fn it_says_how_far_the_body_is() {
        let change = change(Kind::Reset, None);
        std::fs::write(&change.reached, "").expect("a file");
        let mut notice = Notice::new(change.clone());
        for received in [9, 12, 13] {
            notice.say(received).expect("said");
        }
        assert_eq!(
            std::fs::read_to_string(&change.reached).expect("a file"),
            "12\n"
        );
        std::fs::remove_file(&change.reached).expect("removed");
    }

    /// The client learns once, and only in the way that was meant.
    #[test]
    fn it_learns_in_one_way() {
        let mut by_reset = Notice::new(change(Kind::Reset, None));
        assert!(!by_reset.comes(false, 5));
        assert!(by_reset.comes(true, 5));
        assert!(!by_reset.comes(true, 5));
        let mut by_silence = Notice::new(change(Kind::Timeout, Some(0)));
        assert!(!by_silence.comes(true, 0), "no body has begun");
        assert!(by_silence.comes(false, 1));
        assert_eq!(by_silence.deadline(1), None);
    }
}
