// SPDX-License-Identifier: Apache-2.0
//! What can go wrong before and around a transfer.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One line for the person who wrote the job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The job asks for something that quinn cannot do, or is no job at all.
    #[error("{0}")]
    Asked(String),
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("cannot write {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot bind a UDP socket to {address}: {source}")]
    Bind {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("TLS: {0}")]
    Tls(String),
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
    /// The transfer itself failed; the report says the same.
    #[error("{0}")]
    Transfer(String),
}

impl Error {
    /// 2 for what was asked wrongly, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Asked(_) => 2,
            _ => 1,
        }
    }

    /// `path` could not be read for this reason.
    pub fn unreadable(path: impl Into<PathBuf>, reason: &impl ToString) -> Self {
        Self::Unreadable {
            path: path.into(),
            reason: reason.to_string(),
        }
    }
}
