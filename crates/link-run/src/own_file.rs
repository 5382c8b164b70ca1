// SPDX-License-Identifier: Apache-2.0
//! Files of ours in folders in which programs under test may write.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Make a file, or empty the one that is there. Unlike `File::create`, it neither follows a symbolic
/// link nor waits for the reader of a FIFO.
///
/// # Errors
/// Whatever stands there is neither a regular file nor a character device, or the file system refuses.
pub fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    // A program under test can make no device, so one is what the caller asked for.
    if kind.is_file() || kind.is_char_device() {
        return Ok(file);
    }
    Err(io::Error::other("it is no regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn only_regular_files_are_written() {
        let folder = std::env::temp_dir().join(format!("own-file-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let [plain, fifo, link] = ["plain", "fifo", "link"].map(|name| folder.join(name));
        std::fs::write(&plain, "before").unwrap();
        let name = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: `name` is a string that ends with NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        std::os::unix::fs::symlink(folder.join("outside"), &link).unwrap();
        assert!(create(&fifo).is_err(), "and it does not wait");
        assert!(create(&link).is_err());
        assert!(!folder.join("outside").exists());
        assert_eq!(create(&plain).unwrap().metadata().unwrap().len(), 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
