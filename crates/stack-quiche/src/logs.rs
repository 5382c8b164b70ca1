// SPDX-License-Identifier: Apache-2.0
//! qlog and key log of a connection.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stack_common::failure::Failure;
use stack_common::logs;

use crate::tap::{Numbers, Tap};

/// Few large writes, because they happen between two packets.
const QLOG_BUFFER: usize = 256 << 10;

/// Folders and files of the logs of every connection.
pub struct Logs {
    qlog_dir: Option<PathBuf>,
    keylog: Option<File>,
    role: &'static str,
}

impl Logs {
    /// The key log is opened now, so that a wrong path is known before the start.
    pub fn new(
        qlog_dir: Option<&Path>,
        keylog: Option<&Path>,
        role: &'static str,
    ) -> Result<Self, Failure> {
        logs::make_folder(qlog_dir)?;
        Ok(Self {
            qlog_dir: qlog_dir.map(Path::to_owned),
            keylog: logs::key_log(keylog)?,
            role,
        })
    }

    /// True if secrets are wanted.
    pub fn wants_keys(&self) -> bool {
        self.keylog.is_some()
    }

    /// Attach the logs to a connection that was just created.
    ///
    /// Returns what the library logs of its congestion window, where there is a qlog.
    pub fn attach(&self, quic: &mut quiche::Connection) -> Result<Option<Arc<Numbers>>, Failure> {
        let mut numbers = None;
        if let Some(dir) = &self.qlog_dir {
            let file = logs::qlog(dir, quic.trace_id(), self.role)?;
            let (tap, read) = Tap::on(BufWriter::with_capacity(QLOG_BUFFER, file));
            numbers = Some(read);
            quic.set_qlog(
                Box::new(tap),
                format!("quiche {}", self.role),
                quic.trace_id().to_owned(),
            );
        }
        if let Some(file) = &self.keylog {
            quic.set_keylog(Box::new(file.try_clone()?));
        }
        Ok(numbers)
    }
}
