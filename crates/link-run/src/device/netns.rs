// SPDX-License-Identifier: Apache-2.0
//! Work inside another network namespace.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread;

/// A network namespace that stays reachable.
#[derive(Debug)]
pub struct Netns {
    file: File,
}

impl Netns {
    /// Opens a namespace by its path.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(|file| Self { file })
    }

    /// Does `work` in a short-lived thread inside the namespace; sockets and devices opened there stay there.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or what `work` answers.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = self.file.as_raw_fd();
        thread::scope(|scope| {
            let inside = thread::Builder::new()
                .name("in-netns".to_owned())
                .spawn_scoped(scope, move || {
                    // SAFETY: setns takes a descriptor, which lives as long as `self`, and acts on this thread alone.
                    if unsafe { libc::setns(namespace, libc::CLONE_NEWNET) } != 0 {
                        return Err(io::Error::last_os_error());
                    }
                    work()
                })?;
            inside
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace crashed")))
        })
    }
}
