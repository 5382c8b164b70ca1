// SPDX-License-Identifier: Apache-2.0
//! The command line of a program: `NAME client JOB.json | server JOB.json | version`.
//!
//! Exit codes: 0 done, 1 failed, 2 the job asks for what the library cannot do; in both cases one line on stdout says
//! why.

use std::io;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::job::{self, Job};

/// Does what the arguments of the process ask for.
pub fn run<C: Job, S: Job>(
    name: &str,
    version: &str,
    client: impl FnOnce(C) -> Result<(), Failure>,
    server: impl FnOnce(S) -> Result<(), Failure>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["version"] => {
            println!("{version}");
            Ok(())
        }
        ["client", job] => job::read(job).and_then(client),
        ["server", job] => job::read(job).and_then(server),
        _ => Err(Failure::Usage(format!(
            "usage: {name} client JOB.json | server JOB.json | version"
        ))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{failure}");
            failure.exit_code()
        }
    }
}

/// Waits for a line on stdin: the go of the laboratory.
///
/// # Errors
/// stdin cannot be read.
pub fn wait_for_go() -> io::Result<()> {
    io::stdin().read_line(&mut String::new()).map(|_| ())
}
