// SPDX-License-Identifier: Apache-2.0
//! Errors that stop a decoder: everything less is counted in [`crate::Stats`].

/// Reason why a file could not be decoded at all.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The file could not be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file's head is not that of the format.
    #[error("this is not a {format} that can be read: {found}")]
    Foreign {
        /// The format that was expected.
        format: &'static str,
        /// Text that stands there instead.
        found: String,
    },
}

impl DecodeError {
    pub(crate) fn foreign(format: &'static str, found: impl Into<String>) -> Self {
        Self::Foreign {
            format,
            found: found.into(),
        }
    }
}
