// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 client and file server on the quiche library, driven by a job file.
//!
//! `quiclab-quiche client JOB.json`, `quiclab-quiche server JOB.json` or `quiclab-quiche version`.

mod answer;
mod client;
mod config;
mod ending;
mod held_acks;
mod job;
mod library;
mod logs;
mod migration;
mod notice;
mod outbox;
mod reasons;
mod requests;
mod responses;
mod server;
mod sys;
mod tap;

use std::process::ExitCode;

use stack_common::lock::Versions;
use stack_common::{lock, program};

use job::{ClientJob, ServerJob};

/// Versions that Cargo.lock pins; the library does not tell its own.
fn versions() -> Versions {
    lock::versions(include_str!("../Cargo.lock"), &["quiche"])
}

fn main() -> ExitCode {
    let version = format!("quiche {}", versions()["quiche"]);
    program::run(
        "quiclab-quiche",
        &version,
        |job: ClientJob| client::run(&job),
        |job: ServerJob| server::run(&job),
    )
}

#[cfg(test)]
mod tests {
    use super::versions;

    /// A library that is renamed or gone would have none.
    #[test]
    fn every_library_has_a_version() {
        for (library, version) in versions() {
            assert!(version.contains('.'), "{library} {version}");
        }
    }
}
