// SPDX-License-Identifier: Apache-2.0
//! One process for many runs at a time, which come and go: one thread is punctual for all of them, and spins once.
//!
//! A message on standard input (a `SOCK_SEQPACKET` socket) asks for a run. Its text is `{"paths": [...]}`; its
//! descriptors are a socket to talk about the run, the configuration, and one for each of the paths: wherever the
//! configuration names that path, or something below it, the descriptor is meant. So whatever mounts or processes the
//! other side sees, the same files are reached. On the socket the run says and hears what `quiclab-link CONFIG.json`
//! does on standard output and input.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::thread;

use serde::Deserialize;

use crate::config::Config;
use crate::control::Control;
use crate::error::Error;
use crate::forwarder;
use crate::run::{Punctuality, Run, Talk};

/// Most descriptors that come with one message, as the kernel has it.
const MOST_DESCRIPTORS: usize = 253;
const LONGEST_MESSAGE: usize = 65_536;

/// Runs that are open and not moved yet.
#[derive(Debug)]
pub struct Arrivals {
    runs: Receiver<Run>,
    bell: Bell,
}

impl Arrivals {
    /// Readable when there is something to take.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.bell.0.as_raw_fd()
    }

    /// Adds those that have arrived. False: no more can.
    pub fn take(&self, runs: &mut Vec<Run>) -> bool {
        self.bell.hush();
        loop {
            match self.runs.try_recv() {
                Ok(run) => runs.push(run),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }
}

/// An eventfd: wakes the forwarder.
#[derive(Debug)]
struct Bell(OwnedFd);

impl Bell {
    fn new() -> io::Result<Self> {
        // SAFETY: the call takes numbers, and the new descriptor is ours alone.
        unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedFd::from_raw_fd(fd)))
        }
    }

    fn ring(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the buffer is valid for its length.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    fn hush(&self) {
        let mut count = [0_u8; 8];
        // SAFETY: the buffer is valid for its length.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

/// A way to the forwarder, which learns when there is no other any more.
struct Way {
    runs: Option<Sender<Run>>,
    bell: Bell,
}

impl Way {
    fn copy(&self) -> io::Result<Self> {
        Ok(Self {
            runs: self.runs.clone(),
            bell: Bell(self.bell.0.try_clone()?),
        })
    }

    fn send(&self, run: Run) {
        if let Some(runs) = &self.runs {
            let _ = runs.send(run);
            self.bell.ring();
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.runs = None; // before the bell, so that the forwarder sees that it is gone
        self.bell.ring();
    }
}

/// Moves the packets of all runs that standard input asks for, until it has ended and they are over.
///
/// # Errors
/// If the process cannot get what it needs.
pub fn serve() -> Result<(), Error> {
    let refused = |what: &str| {
        Error::system(
            what.to_owned(),
            "raise the limits on descriptors and processes",
        )
    };
    let control = Control::new().map_err(refused("cannot take over the signals"))?;
    let bell = || Bell::new().map_err(refused("cannot make an eventfd"));
    let (sender, runs) = channel();
    let arrivals = Arrivals {
        runs,
        bell: bell()?,
    };
    let way = Way {
        runs: Some(sender),
        bell: Bell(
            arrivals
                .bell
                .0
                .try_clone()
                .map_err(refused("cannot copy an eventfd"))?,
        ),
    };
    let (ended, endings) = channel::<(Run, io::Result<()>)>();
    // Before this thread is made punctual, so that the others are ordinary ones.
    let cleaning = thread::Builder::new()
        .name("endings".to_owned())
        .spawn(move || {
            thread::scope(|scope| {
                for (run, moved) in endings {
                    scope.spawn(move || run.end(moved).map_err(tell));
                }
            });
        })
        .map_err(refused("cannot start a thread"))?;
    let punctuality = Punctuality::ask_for(None, true, true);
    thread::Builder::new()
        .name("requests".to_owned())
        .spawn(move || listen(&way, punctuality))
        .map_err(refused("cannot start a thread"))?;
    forwarder::run(
        &control,
        Some(&arrivals),
        Vec::new(),
        punctuality.spin_ns,
        |run, moved| {
            let _ = ended.send((run, moved));
        },
    );
    drop(ended);
    let _ = cleaning.join();
    Ok(())
}

/// Opens what is asked for, each in a thread of its own, until nothing can ask any more.
fn listen(way: &Way, punctuality: Punctuality) {
    while let Some(asked) = receive() {
        let Ok(way) = way.copy() else { continue };
        thread::spawn(move || {
            if let Some(mut run) = open(asked) {
                run.is_ready(punctuality);
                way.send(run);
            }
        });
    }
}

/// A message and its descriptors.
struct Asked {
    text: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// The text of a message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    paths: Vec<PathBuf>,
}

fn open(asked: Asked) -> Option<Run> {
    let mut descriptors = asked.descriptors.into_iter();
    let (talk, config) = (descriptors.next()?, descriptors.next()?);
    let output = talk.try_clone().ok()?;
    let talk = Talk::new(talk, output);
    let read = read_config(&asked.text, config.into(), descriptors.as_slice());
    match read {
        Ok(config) => Run::open(config, talk).map_err(tell).ok(),
        Err(error) => {
            tell((error, talk));
            None
        }
    }
}

/// Tells why there is no run, or no summary of one.
fn tell((error, mut talk): (Error, Talk)) {
    talk.tell(&error.event());
}

/// The configuration, with descriptors of this process in place of the other side's paths.
fn read_config(text: &[u8], mut file: File, descriptors: &[OwnedFd]) -> Result<Config, Error> {
    let request: Request =
        serde_json::from_slice(text).map_err(|error| Error::config(error.to_string()))?;
    if request.paths.len() != descriptors.len() {
        return Err(Error::config("as many descriptors as paths are needed"));
    }
    let mut text = String::new();
    file.rewind()
        .and_then(|()| file.read_to_string(&mut text))
        .map_err(|error| Error::config(error.to_string()))?;
    let mut config = Config::parse(&text)?;
    let known: Vec<_> = request.paths.iter().zip(descriptors).collect();
    config.each_path(|path| {
        for (theirs, ours) in &known {
            if let Ok(below) = path.strip_prefix(theirs) {
                let ours = Path::new("/proc/self/fd").join(ours.as_raw_fd().to_string());
                // A path that ends in a slash is not the descriptor itself.
                *path = if below.as_os_str().is_empty() {
                    ours
                } else {
                    ours.join(below)
                };
                break;
            }
        }
    });
    Ok(config)
}

/// The next message on standard input; none once nothing can send one.
fn receive() -> Option<Asked> {
    let mut text = vec![0_u8; LONGEST_MESSAGE];
    // As the kernel aligns it: a header of control messages holds a usize.
    let mut control = vec![0_usize; MOST_DESCRIPTORS + 8];
    let mut part = libc::iovec {
        iov_base: text.as_mut_ptr().cast(),
        iov_len: text.len(),
    };
    // SAFETY: an all-zero msghdr is valid; the buffers outlive the call, and control messages are read as the kernel
    // wrote them, within the length that it gave.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control[..]);
        let length = loop {
            let received =
                libc::recvmsg(libc::STDIN_FILENO, &raw mut message, libc::MSG_CMSG_CLOEXEC);
            match usize::try_from(received) {
                Ok(length) => break length,
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        };
        if length == 0 {
            return None;
        }
        text.truncate(length);
        let mut descriptors = Vec::new();
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let bytes = (*header).cmsg_len - libc::CMSG_LEN(0) as usize;
                let first: *const RawFd = libc::CMSG_DATA(header).cast();
                for number in 0..bytes / size_of::<RawFd>() {
                    let fd = first.add(number).read_unaligned();
                    descriptors.push(OwnedFd::from_raw_fd(fd));
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        Some(Asked { text, descriptors })
    }
}
