# SPDX-License-Identifier: Apache-2.0
"""Tables about a trial as the laboratory ran it, and about the cost of its programs."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table
from quiclab.model.tables._common import TIME

_SAMPLE, _SUM = "a sum over a span of time", "a look at one instant"
_SWITCHES = _SUM + ", or threads ended and took theirs with them"


def _text(name: str, null: str, doc: str) -> Column:
    return Column(name, pl.String, "", null, doc)


TRIALS = log_table(
    "trials",
    "One attempt at one trial, as `trial.json` has it.",
    replace(TIME, doc="Start of the trial. " + TIME.doc),
    _text("trial_id", NEVER, "Id of the trial in the plan."),
    Column("attempt", pl.UInt32, "", NEVER, "Counts from 1."),
    _text("status", "not judged yet", "`verified`, `failed`, `unproven` or `void`."),
    _text("reason", "verified, or not judged yet", "Reason why it failed, is unproven or is void."),
    _text("kind", "no row of a plan", "`main`, `control` and so on, as the plan calls it."),
    _text("cell", "no row of a plan", "The cell of the study's matrix."),
    _text("block", "no row of a plan", "The block, whose trials are compared."),
    Column("position", pl.Int64, "", "no row of a plan", "Place in the order of the plan."),
    Column("seed", pl.UInt64, "", "no row of a plan", "The block's seed."),
    _text("arm", "no row of a plan", "What is compared."),
    _text("workload", "no row of a plan", "What is transferred."),
    _text("path", "no row of a plan", "Path that it is transferred over."),
    _text("protocol", "not recorded", "`h2`, `h3` or `h1`, as asked."),
    _text("http_version", "not proven", "Version of HTTP that the trial proves to have run."),
    Column("ip_version", pl.UInt8, "", "not recorded", "4 or 6."),
    _text("client_address", "not recorded", "The client's address on the path."),
    _text("server_address", "not recorded", "The server's address on the path."),
    Column("server_port", pl.UInt16, "", "not recorded", "Port of the front, which answers the client."),
    Column("expected_bytes", pl.UInt64, "bytes", "not recorded", "Body that should have arrived, per request."),
    Column("requests", pl.UInt32, "", "the client left no account", "Number of requests in the client's account."),
    Column("body_bytes", pl.UInt64, "bytes", "the client left no account", "Body bytes that it received."),
    _text("started_utc", "not recorded", "Date and time of the start."),
    Column(
        "realtime_minus_monotonic_ns", pl.Int64, "ns", "not recorded", "CLOCK_REALTIME − CLOCK_MONOTONIC at the start."
    ),
)

PROCESS_USAGE = log_table(
    "process_usage",
    "What one program with its children used: one look at it while it ran, or a sum.",
    replace(TIME, null="a sum over a span of time"),
    _text("role", NEVER, "`client`, `server` or `proxy`."),
    _text("scope", NEVER, "`sample` (since it began, by this look), `transfer` or `life` (the whole span)."),
    Column("cpu_ns", pl.Int64, "ns", "not recorded", "Processor time, user and system together."),
    Column("user_ns", pl.Int64, "ns", _SUM, "Processor time in the program; within `transfer` good to 10 ms."),
    Column("system_ns", pl.Int64, "ns", _SUM, "Processor time in the kernel; within `transfer` good to 10 ms."),
    Column("minor_faults", pl.UInt64, "", _SUM, "Page faults without reading from a disk."),
    Column("major_faults", pl.UInt64, "", _SUM, "Page faults that read from a disk."),
    Column("voluntary_switches", pl.UInt64, "", _SWITCHES, "Context switches because it waited."),
    Column("involuntary_switches", pl.UInt64, "", _SWITCHES, "Context switches because another was to run."),
    Column("processes", pl.UInt32, "", "not recorded", "Processes at this look; for `life` the most at any."),
    Column("threads", pl.UInt32, "", "not recorded", "Threads at this look; for `life` the most at any."),
    Column("resident_bytes", pl.UInt64, "bytes", _SAMPLE, "Memory in use at this look."),
    Column(
        "peak_memory_bytes", pl.UInt64, "bytes", "a sample, or not recorded", "The most memory that all had together."
    ),
)
