// SPDX-License-Identifier: Apache-2.0
//! The program of crates/stack-quinn with the modules that this release of quinn can have.

mod client;
mod ends;
mod job;
mod knobs;
mod server;
mod socket;
mod tls;
mod transport;

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
