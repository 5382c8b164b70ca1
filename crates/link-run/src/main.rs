// SPDX-License-Identifier: Apache-2.0
//! `quiclab-link CONFIG.json`: an emulated link between two network namespaces. `quiclab-link --serve`: many of them,
//! as standard input asks for them.

use std::path::Path;
use std::process::ExitCode;

use link_run::error::Error;
use link_run::{link, serve};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let result = match (arguments.next(), arguments.next()) {
        (Some(word), None) if word == "--serve" => serve::serve(),
        (Some(config), None) => link::run(Path::new(&config)),
        _ => Err(Error::config(
            "give one argument: quiclab-link CONFIG.json, or --serve",
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            link::tell(&error.event());
            ExitCode::FAILURE
        }
    }
}
