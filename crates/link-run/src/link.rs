// SPDX-License-Identifier: Apache-2.0
//! `quiclab-link CONFIG.json`: one run, which is told to begin and to stop on standard input and tells its events on
//! standard output.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use serde_json::Value;

use crate::config::Config;
use crate::control::Control;
use crate::error::Error;
use crate::forwarder;
use crate::run::{Punctuality, Run, Talk};

/// Runs the link, or the links in a row, that the file describes until it is told to stop.
///
/// # Errors
/// If the link cannot start, or loses a device.
pub fn run(file: &Path) -> Result<(), Error> {
    let config = Config::read(file)?;
    let refused = |what: &str| Error::system(what.to_owned(), "raise the limit on descriptors");
    let control = Control::new().map_err(refused("cannot take over the signals"))?;
    let [input, output] =
        [io::stdin().as_fd(), io::stdout().as_fd()].map(|fd| fd.try_clone_to_owned());
    let talk = Talk::new(
        input.map_err(refused("cannot copy standard input"))?,
        output.map_err(refused("cannot copy standard output"))?,
    );
    let timer = config.timer;
    let mut run = Run::open(config, talk).map_err(|(error, _)| error)?;
    let punctuality = Punctuality::ask_for(timer.spin_ns, timer.real_time, false);
    run.is_ready(punctuality);
    let mut ended = Ok(());
    forwarder::run(
        &control,
        None,
        vec![run],
        punctuality.spin_ns,
        |run, moved| {
            ended = run.end(moved).map_err(|(error, _)| error);
        },
    );
    ended
}

/// Tells an event on standard output, unless that is closed.
pub fn tell(event: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
