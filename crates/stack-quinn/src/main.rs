// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 client and file server around quinn and h3, driven by a job file.
//!
//! `quiclab-quinn client JOB.json | server JOB.json | version`. Exit codes: 0 done, 1 failed, 2 the job asks for what
//! quinn cannot do; in both cases one line on stdout says why.

mod client;
mod clock;
mod congestion;
mod error;
mod false_sample;
mod files;
mod job;
mod knobs;
mod qlog;
mod reasons;
mod rebinding;
mod report;
mod server;
mod socket;
mod tls;
mod transport;
mod unmarked;

use std::env;
use std::process::ExitCode;

use error::Error;

const VERSION: &str = concat!("quinn ", env!("QUINN_VERSION"));

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["client", job] => job::read(job).and_then(client::run),
        ["server", job] => job::read(job).and_then(server::run),
        ["version"] => {
            println!("{VERSION}");
            Ok(())
        }
        _ => Err(Error::Asked(
            "usage: quiclab-quinn client JOB.json | server JOB.json | version".into(),
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(error.exit_code())
        }
    }
}
