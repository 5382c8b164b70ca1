// SPDX-License-Identifier: Apache-2.0
//! Errors, told to the user as a sentence and a hint.

use std::io;

use serde_json::{json, Value};

/// Reason why the link cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong.
    #[error("configuration: {0}")]
    Config(String),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// Action that failed.
        what: String,
        /// Error of the system.
        source: io::Error,
        /// Advice to the user.
        hint: &'static str,
    },
}

impl Error {
    /// A fault of the configuration.
    pub fn config(message: impl Into<String>) -> Self {
        Self::Config(message.into())
    }

    /// Makes a system error that names what was being done, for `map_err`.
    pub fn system(what: impl Into<String>, hint: &'static str) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source, hint }
    }

    /// The event that tells of it.
    #[must_use]
    pub fn event(&self) -> Value {
        json!({"event": "error", "message": self.to_string(), "hint": self.hint()})
    }

    /// Advice to the user.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Config(_) => "docs/reference/link-config.md describes every field",
            Self::System { hint, .. } => hint,
        }
    }
}
