# SPDX-License-Identifier: Apache-2.0
"""The quinn endpoints: what they set, what they refuse, and in what the ones that are wrong on purpose differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import contexts
import pytest

from quiclab.lab.endpoints._api import Available, Unsupported
from quiclab.lab.endpoints.clients.quinn import QuinnClient
from quiclab.lab.endpoints.servers.quinn import (
    QuinnFaultyCoarseTimers,
    QuinnFaultyEveryLoss,
    QuinnFaultyInitialPto,
    QuinnFaultyReducedTwice,
    QuinnFaultyRttSample,
    QuinnFaultyThreshold,
    QuinnFaultyTrickle,
    QuinnServer,
    QuinnTimeThreshold,
)
from quiclab.model.study import Knobs, Program, Tcp
from quiclab.model.units import ByteCount, Duration

CONTEXT = replace(contexts.CONTEXT, ip_version=6, address="fd77::2", port=8443, keylog=None)
VARIANTS = (QuinnServer(), QuinnFaultyThreshold(), QuinnTimeThreshold(), QuinnFaultyInitialPto())


def _job(endpoint: QuinnClient | QuinnServer, knobs: Knobs | None = None) -> dict[str, Any]:
    program = Program(endpoint.name, knobs=knobs or Knobs())
    (text,) = endpoint.command(replace(CONTEXT, program=program)).files.values()
    job = json.loads(text)
    assert isinstance(job, dict)
    return job


def test_the_job_has_the_knobs_in_their_units() -> None:
    """What is not set is null: the library's own."""
    knobs = Knobs(packet_threshold=77, initial_rtt=Duration.parse("33 ms"), max_window=ByteCount(90_000))
    job = _job(QuinnServer(), knobs)
    assert (job["packet_threshold"], job["initial_rtt_ns"], job["max_window_bytes"]) == (77, 33_000_000, 90_000)
    assert (job["congestion_control"], job["listen"]) == (None, "[fd77::2]:8443")


@pytest.mark.parametrize(
    ("knobs", "word"),
    [
        (Knobs(congestion_control="bbr2"), "reno, cubic, bbr"),
        (Knobs(initial_rtt=Duration.parse("900 us")), "1 ms"),
        (Knobs(max_window=ByteCount(2903)), "2904"),
        (Knobs(max_window=ByteCount(2999), max_payload=1500), "3000"),
    ],
)
def test_values_that_cannot_be_had_are_refused(knobs: Knobs, word: str) -> None:
    """With what can be had instead."""
    assert word in (QuinnServer().unsupported(Program("quinn", knobs=knobs), "h3") or "")


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        (Knobs(ecn=False), "ecn"),
        (Knobs(peer_ack_frequency=10), "peer_ack_frequency"),
        (Knobs(groups=("x25519mlkem768",)), "group x25519mlkem768"),
        (Knobs(migration="active", migrate_at=ByteCount(1000)), 'migration = "active"'),
    ],
)
def test_a_knob_that_an_older_release_lacks_is_refused(knobs: Knobs, what: str) -> None:
    """One sentence says from which version on there is it; the current release takes it."""
    client = QuinnClient()
    told = client.unsupported(Program("quinn", version="0.10.2", knobs=knobs), "h3")
    assert told == f"quinn 0.10.2 has no {what} here, only from 0.11 on: leave it out"
    assert client.unsupported(Program("quinn", version="0.11.12", knobs=knobs), "h3") is None


def test_an_address_changes_at_a_place_in_the_body() -> None:
    """Neither the kind of change nor its place is of use alone."""
    client, at = QuinnClient(), ByteCount(1000)
    alone = (Knobs(migration="active"), Knobs(migrate_at=at))
    assert all("need each other" in (client.unsupported(Program("quinn", knobs=each), "h3") or "") for each in alone)
    assert client.unsupported(Program("quinn", knobs=Knobs(migration="rebinding", migrate_at=at)), "h3") is None


@pytest.mark.parametrize(
    ("faulty", "twin", "thing"),
    [
        (QuinnFaultyThreshold(), QuinnTimeThreshold(), "packet_threshold"),
        (QuinnFaultyInitialPto(), QuinnServer(), "initial_rtt_ns"),
        (QuinnFaultyTrickle(), QuinnServer(), "trickle"),
        (QuinnFaultyRttSample(), QuinnServer(), "false_rtt_sample_ns"),
        (QuinnFaultyEveryLoss(), QuinnServer(), "every_loss_reduces"),
        (QuinnFaultyReducedTwice(), QuinnServer(), "reduces_twice"),
        (QuinnFaultyCoarseTimers(), QuinnServer(), "timer_step_ns"),
    ],
)
def test_a_faulty_server_differs_from_its_twin_in_one_thing(faulty: QuinnServer, twin: QuinnServer, thing: str) -> None:
    """Whatever else the spec sets, and the name and the facts say which of the two is wrong."""
    knobs = Knobs(congestion_control="reno", gso=False)
    wrong, right = _job(faulty, knobs), _job(twin, knobs)
    assert {key for key in wrong if wrong[key] != right.get(key)} == {thing}
    assert thing.removesuffix("_ns") not in faulty.knobs["h3"]
    said = [" ".join(each.traits(Program(each.name), "h3", Tcp("reno")).values()) for each in (faulty, twin)]
    assert [("faulty" in each.name, "faulty" in text) for each, text in zip((faulty, twin), said, strict=True)] == [
        (True, True),
        (False, False),
    ]


@pytest.mark.parametrize("server", VARIANTS, ids=lambda server: server.name)
def test_facts_name_what_is_in_force(server: QuinnServer) -> None:
    """The library's own where nothing is set, and what is set otherwise."""
    own = server.traits(Program(server.name), "h3", Tcp("reno"))
    assert (own["congestion_control"], own["initial_window"]) == (
        "quinn cubic with beta 0.7",
        "10 packets of 1200 bytes",
    )
    knobs = Knobs(congestion_control="bbr", max_payload=1400, gso=False, early_data=True, scheduler="fifo")
    asked = server.traits(Program(server.name, knobs=knobs), "h3", Tcp("reno"))
    assert (asked["initial_window"], asked["packet_size"]) == ("200 packets of 1400 bytes", "UDP payload 1400 bytes")
    assert (asked["datagrams_per_system_call"], asked["early_data"], asked["scheduler"]) == ("1", "accepted", "fifo")


def test_the_version_is_the_librarys(tmp_path: Path) -> None:
    """As the program tells it; a program that is not there is unsupported."""
    program = tmp_path / "bin" / "quiclab-quinn"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = QuinnClient().probe(lambda _argv: "quinn 0.11.12 (h3 0.0.8)\n", str(tmp_path))
    assert found == Available("0.11.12 (h3 0.0.8)", str(program))
    assert isinstance(QuinnServer().probe(lambda _argv: "never asked", str(tmp_path / "none")), Unsupported)
