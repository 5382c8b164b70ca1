// SPDX-License-Identifier: Apache-2.0
//! Files that the link writes into a directory of their own.

use std::fs;
use std::path::PathBuf;

use link_run::config;
use link_run::log::{self, Logs, Writing};

pub const REALTIME_MINUS_MONOTONIC_NS: i64 = 1_795_294_534_608_768_542;

/// A directory of its own, gone at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("quiclab-link-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    pub fn config(&self, buffer_bytes: usize) -> config::Log {
        config::Log {
            packet_log: Some(self.0.join("link.qplog")),
            capture_client: Some(self.0.join("client.pcapng")),
            capture_server: None,
            snaplen_bytes: None,
            buffer_bytes,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub fn create(config: &config::Log) -> ([Logs; 2], Writing) {
    let (mut logs, writing) =
        log::create(config, &[], REALTIME_MINUS_MONOTONIC_NS).expect("the files can be created");
    (logs.pop().expect("one link"), writing)
}

pub fn finish(logs: [Logs; 2], writing: Writing, model_zero_ns: u64) -> std::io::Result<()> {
    for direction in logs {
        let _ = direction.finish();
    }
    writing.finish(&[model_zero_ns])
}
