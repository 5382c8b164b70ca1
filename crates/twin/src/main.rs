// SPDX-License-Identifier: Apache-2.0
//! `quiclab-twin`: runs each case of its standard input, a JSON object a line, and writes what came of it, a line each.
//!
//! A line of output has `total_ns` (the client's first packet to its last byte), `truth` (why each nanosecond passed, from
//! the state of the sender) and, unless the line says `only_total`, `tables` (what a real trial's files would show).
//! The same line of input gives the same bytes again.

mod case;
mod quic;
mod state;
mod tables;
mod tcp;
mod truth;
mod way;
mod world;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{json, Value};

use crate::case::{Case, Protocol};
use crate::state::Step;
use crate::tables::{Logs, Tables};
use crate::truth::Marks;
use crate::way::Way;

/// A line of input.
#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    case: Case,
    /// Nothing but the time: a counterfactual.
    #[serde(default)]
    only_total: bool,
    /// Logs of the server that are among the tables.
    #[serde(default)]
    logs: Logs,
}

fn main() -> ExitCode {
    match answer_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("quiclab-twin: {why}");
            ExitCode::FAILURE
        }
    }
}

fn answer_all() -> Result<(), String> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let asked: Asked = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let answer = match asked.case.protocol {
            Protocol::H2 => over_tcp(&asked)?,
            Protocol::H3 => over_quic(&asked)?,
        };
        writeln!(out, "{answer}").map_err(|error| error.to_string())?;
    }
    out.flush().map_err(|error| error.to_string())
}

fn over_tcp(asked: &Asked) -> Result<Value, String> {
    let case = &asked.case;
    let run = |case: &Case| -> Result<_, String> {
        let world = tcp::trial::run(case)?;
        let marks = tcp::trial::marks(case, &world).ok_or("nothing was answered")?;
        Ok((world, marks))
    };
    let (world, marks) = run(case)?;
    if asked.only_total {
        return Ok(total(&world.down, &marks));
    }
    let (clean_world, clean) = run(&case.set_up_without_loss())?;
    let clean = (&clean, begin_ns(&clean_world.down, &clean));
    let tables = tcp::trial::tables(case, &world, &marks, asked.logs != Logs::Captures);
    let steps = &world.server.steps;
    Ok(told(
        &world.down,
        steps,
        &marks,
        clean,
        "loss_timer",
        tables,
    ))
}

fn over_quic(asked: &Asked) -> Result<Value, String> {
    let case = &asked.case;
    let run = |case: &Case| -> Result<_, String> {
        let world = quic::trial::run(case)?;
        let marks = quic::trial::marks(&world).ok_or("nothing was answered")?;
        Ok((world, marks))
    };
    let (world, marks) = run(case)?;
    if asked.only_total {
        return Ok(total(&world.down, &marks));
    }
    let (clean_world, clean) = run(&case.set_up_without_loss())?;
    let clean = (&clean, begin_ns(&clean_world.down, &clean));
    let tables = quic::trial::tables(case, &world, &marks, asked.logs);
    let steps = &world.server.observer.steps;
    Ok(told(
        &world.down,
        steps,
        &marks,
        clean,
        "probe_timer",
        tables,
    ))
}

/// Nothing but the time, and how many packets the server sent.
fn total<P>(down: &Way<P>, marks: &Marks) -> Value {
    json!({"total_ns": down.log[marks.completing].due_ns(), "packets_down": down.log.len()})
}

/// Instant at which the first packet of the response begins service.
fn begin_ns<P>(down: &Way<P>, marks: &Marks) -> u64 {
    down.log[marks.first].begin_ns().unwrap_or(0)
}

fn told<P>(
    down: &Way<P>,
    steps: &[Step],
    marks: &Marks,
    clean: (&Marks, u64),
    timer: &'static str,
    tables: Tables,
) -> Value {
    let truth = truth::stretches(down, steps, marks, clean, timer);
    let total_ns = down.log[marks.completing].due_ns();
    json!({"total_ns": total_ns, "truth": truth, "tables": tables.json()})
}
