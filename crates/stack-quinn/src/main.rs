// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 client and file server around quinn and h3, driven by a job file.
//!
//! `quiclab-quinn client JOB.json | server JOB.json | version`. Exit codes: 0 done, 1 failed, 2 the job asks for what
//! quinn cannot do; in both cases one line on stdout says why.

mod client;
mod coarse_timers;
mod congestion;
mod ends;
mod false_sample;
mod faulty_reductions;
mod job;
mod knobs;
mod qlog;
mod reasons;
mod rebinding;
mod server;
mod socket;
mod tls;
mod transport;
mod unmarked;

use std::process::ExitCode;

use stack_common::lock::Versions;
use stack_common::{lock, program};

/// Versions that Cargo.lock pins; the libraries do not tell their own.
fn versions() -> Versions {
    let libraries = ["quinn", "quinn-proto", "h3", "rustls"];
    lock::versions(include_str!("../Cargo.lock"), &libraries)
}

fn main() -> ExitCode {
    let version = format!("quinn {}", versions()["quinn"]);
    program::run("quiclab-quinn", &version, client::run, server::run)
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
