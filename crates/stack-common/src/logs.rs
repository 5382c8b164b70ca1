// SPDX-License-Identifier: Apache-2.0
//! Places of the qlogs and of the key log.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::path::Path;

use crate::failure::Failure;

/// Makes the folder of the qlogs, so that a server learns at its start, and not from its first client, that it cannot be
/// written.
///
/// # Errors
/// The folder cannot be made.
pub fn make_folder(folder: Option<&Path>) -> Result<(), Failure> {
    folder.map_or(Ok(()), |folder| {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::cannot(&format!("create the directory {}", folder.display()), error)
        })
    })
}

/// The new qlog of one connection, named by its first connection ID and by the role of this end.
///
/// # Errors
/// The file cannot be made.
pub fn qlog(folder: &Path, connection: impl Display, role: &str) -> Result<File, Failure> {
    let path = folder.join(format!("{connection}-{role}.sqlog"));
    File::create(&path).map_err(|error| Failure::unwritable(&path, error))
}

/// The key log, to whose end secrets are added.
///
/// # Errors
/// The file cannot be opened.
pub fn key_log(path: Option<&Path>) -> Result<Option<File>, Failure> {
    path.map(|path| {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.map_err(|error| Failure::unwritable(path, error))
    })
    .transpose()
}
