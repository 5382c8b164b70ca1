// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 client and file server on the quiche library, driven by a job file.
//!
//! `quiclab-quiche client JOB.json`, `quiclab-quiche server JOB.json` or `quiclab-quiche version`.

mod answer;
mod client;
mod config;
mod ending;
mod failure;
mod files;
mod held_acks;
mod job;
mod logs;
mod migration;
mod notice;
mod outbox;
mod reasons;
mod report;
mod requests;
mod responses;
mod server;
mod sys;
mod tap;

use std::process::ExitCode;

use failure::Failure;

/// The version that Cargo.lock pins; the library does not tell its own.
const QUICHE_VERSION: &str = "0.30.0";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["version"] => {
            println!("quiche {QUICHE_VERSION}");
            Ok(())
        }
        ["client", job] => job::read(job).and_then(|job| client::run(&job)),
        ["server", job] => job::read(job).and_then(|job| server::run(&job)),
        _ => Err(Failure::Usage(
            "usage: quiclab-quiche client JOB.json | server JOB.json | version".to_owned(),
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{failure}");
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QUICHE_VERSION;

    /// The version that is printed is the one that is linked.
    #[test]
    fn version_is_that_of_the_lock_file() {
        let pinned = format!("name = \"quiche\"\nversion = \"{QUICHE_VERSION}\"");
        assert!(include_str!("../Cargo.lock").contains(&pinned));
    }
}
