// SPDX-License-Identifier: Apache-2.0
//! `quiclab-tcp-info SETTINGS`: samples `struct tcp_info` until its input is closed. The settings are JSON.

use link_run::link::tell;
use link_run::tcp_info::{Sampler, Settings, Summary};
use serde_json::json;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(summary) => {
            tell(&json!({"event": "summary", "summary": summary}));
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell(&json!({"event": "error", "message": error.to_string()}));
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<Summary> {
    let settings = std::env::args().nth(1).unwrap_or_default();
    let settings: Settings = serde_json::from_str(&settings)?;
    let sampler = Sampler::new(settings)?;
    tell(&json!({"event": "ready"}));
    sampler.run(input_closed_within)
}

/// Wait for so many nanoseconds, or until our starter closes our input or is gone.
fn input_closed_within(wait_ns: u64) -> bool {
    let mut input = libc::pollfd {
        fd: libc::STDIN_FILENO,
        events: libc::POLLIN,
        revents: 0,
    };
    let second = 1_000_000_000;
    let wait = libc::timespec {
        tv_sec: libc::time_t::try_from(wait_ns / second).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::try_from(wait_ns % second).unwrap_or(0),
    };
    // SAFETY: one pollfd, a valid timespec, no signal mask.
    unsafe { libc::ppoll(&raw mut input, 1, &raw const wait, std::ptr::null()) > 0 }
}
