// SPDX-License-Identifier: Apache-2.0
//! Failure that ends a program: one line for people, and an exit code.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The reason of an end that was not asked for.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command or the job asks for what cannot be had.
    #[error("{0}")]
    Usage(String),
    /// The transfer, or what it needs, failed.
    #[error("{0}")]
    Run(String),
}

impl Failure {
    /// A failure of the run that reads `cannot VERB THING: why`.
    pub fn cannot(what: &str, why: impl Display) -> Self {
        Self::Run(format!("cannot {what}: {why}"))
    }

    /// A failure of what the program needs before it can work.
    pub fn start(why: impl Display) -> Self {
        Self::cannot("start", why)
    }

    /// A file or folder that cannot be read.
    pub fn unreadable(path: &Path, why: impl Display) -> Self {
        Self::cannot(&format!("read {}", path.display()), why)
    }

    /// A file or folder that cannot be written.
    pub fn unwritable(path: &Path, why: impl Display) -> Self {
        Self::cannot(&format!("write {}", path.display()), why)
    }

    /// 2 for what should have been known before the start, 1 for all else.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Run(_) => ExitCode::FAILURE,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Run(error.to_string())
    }
}
