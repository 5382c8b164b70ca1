// SPDX-License-Identifier: Apache-2.0
//! Why the program ended: one line for people, and an exit code.

use std::io;
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
    pub fn cannot(what: &str, why: impl std::fmt::Display) -> Self {
        Self::Run(format!("cannot {what}: {why}"))
    }

    /// 2 for what should have been known before the start, 1 for all else.
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
