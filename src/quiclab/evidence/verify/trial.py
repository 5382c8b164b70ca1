# SPDX-License-Identifier: Apache-2.0
"""The verdict on one attempt: does it count, did it fail, or was the laboratory at fault?

`judge` reads what the runner left, writes proof, status and the artefact register into trial.json, and returns the
verdict. Only *verified* counts; *failed* ranks worst; *unproven* is left out, as neither packets nor an account of the
client tell what it got; *void* is the laboratory's fault and voids the whole block.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.evidence.verify.artefacts import register
from quiclab.evidence.verify.asked import objects_apart, shortfall
from quiclab.evidence.verify.bodies import body_problem
from quiclab.evidence.verify.carried_bytes import carried_problem, split_problem, twice_problem
from quiclab.evidence.verify.competing_flows import broken_wire, competition_problem
from quiclab.evidence.verify.delivered import HTTP_VERSIONS, shown_by_packets, unproven
from quiclab.evidence.verify.disturbed import bound_ns, disturbance_problem
from quiclab.evidence.verify.origin_leg import control_problem, relay_problem
from quiclab.evidence.verify.proof import UNPROVEN, prove
from quiclab.evidence.verify.proven_address_change import change_problem, changed_in_vain
from quiclab.model.tables.drop_reasons import DropKind, dropped_by
from quiclab.model.terminal_escape import plain
from quiclab.store.disk import write_atomically
from quiclab.store.layout import Status
from quiclab.store.packed_captures import pack_captures
from quiclab.store.packed_logs import pack_logs


# Ends that were stopped during a trial, which then measures that.
#
# A program in a jail cannot stop itself, nor can another: it is the first process of a PID namespace. Its children it
# can stop, and they one another, so that such a stop is its own affair.
#
# Decision 4 (docs/decisions/0004-how-late-is-too-late.md) has what is not seen.
def ends_problem(document: dict[str, Any]) -> str | None:
    """Say which of client, server and proxy was stopped from outside; None where none was."""
    for role, stood in _stood_still(document):
        if stood.get("number"):
            return f"the {role} was stopped from outside for {stood['stopped_ns'] / 1e6:.1f} ms"
    return None


def children_problem(document: dict[str, Any]) -> str | None:
    """Say whose child was stopped, which only its own program can be counted on to do; None where none was."""
    stopped = (role for role, stood in _stood_still(document) if stood.get("looks_at_children"))
    role = next(stopped, None)
    return role and f"a process that the {role} had started was stopped"


def _stood_still(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    costs: dict[str, dict[str, Any]] = document["host"].get("cost") or {}
    return ((role, cost.get("stood_still") or {}) for role, cost in costs.items())


_LONGEST_REASON = 2000


@dataclass(frozen=True)
class Verdict:
    """Worth of an attempt, and its reason."""

    status: Status
    reason: str


Disturbed = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Estimates what the laboratory added to the trial of a trial.json; None where that is not known."""


def judge(folder: Path, tables: Mapping[str, pl.DataFrame], disturbed: Disturbed = lambda _: None) -> Verdict:
    """Judge the attempt in `folder` by its files and its tables (from `decoders.decode_trial`), complete its
    trial.json, and compress its logs. Calling it again is harmless."""
    document: dict[str, Any] = json.loads((folder / "trial.json").read_text())
    verdict = judge_document(document, folder, tables, disturbed)
    pack_logs(folder)
    pack_captures(folder / "raw")
    document["artefacts"] = register(folder)
    write_atomically(folder / "trial.json", json.dumps(document, indent=1))
    return verdict


def judge_document(
    document: dict[str, Any], folder: Path, tables: Mapping[str, pl.DataFrame], disturbed: Disturbed = lambda _: None
) -> Verdict:
    """Judge the attempt in `folder` as `judge` does, and enter proof, disturbance and verdict into `document`, the
    content of its trial.json; nothing is written."""
    spoiled = document.get("void") is not None  # logs that were cut off prove nothing
    document["proof"] = {} if spoiled else prove(folder, document, tables)
    document["own_failure"] = None if spoiled else _own_failure(document)
    found = None if spoiled or not document["link"] else disturbed(document)
    document["disturbance"] = None if found is None else {**found, "bound_ns": bound_ns(document, found)}
    told = _verdict(document)
    verdict = Verdict(told.status, short_reason(told.reason))
    document["status"], document["reason"] = verdict.status, verdict.reason
    return verdict


def short_reason(reason: str) -> str:
    """A reason as files and tables keep it: it may quote a program."""
    return plain(reason, _LONGEST_REASON)


def problem_of(document: dict[str, Any]) -> str | None:
    """Return what was wrong with a judged trial, apart from how its link did."""
    failure: str | None = document["failure"]
    return failure or _transport_problem(document) or body_problem(document) or _contradiction(document)


def _contradiction(document: dict[str, Any]) -> str | None:
    """Return what the packets show against the trial, whatever the client reports."""
    account: str | None = document["proof"].get("account_contradicted")
    carried = carried_problem(document) or split_problem(document) or twice_problem(document)
    return shown_by_packets(document).problem or carried or account


def _verdict(document: dict[str, Any]) -> Verdict:
    if (spoiled := document.get("void")) is not None:
        return Verdict("void", spoiled)
    if (harm := document.get("logs_spoiled")) is not None:
        return Verdict("failed", harm)
    link = document["link"]
    if not link:
        return Verdict("void", "the link left no account of itself")
    if not link["sound"]:
        return Verdict("void", "the link: " + "; ".join(link["unsound_reasons"]))
    if (changed := document["proof"].get("capture_contradicted")) is not None:
        return Verdict("failed", changed)
    if (stood := ends_problem(document)) is not None:
        return Verdict("void", stood)
    if (trouble := changed_in_vain(document)) is not None:
        return Verdict("void", trouble)
    if (lost := broken_wire(document)) is not None:
        return Verdict("void", lost)
    problem = document["own_failure"]
    unknown = None if problem else unproven(document)
    if unknown:  # it could not count anyway, and would be as little known if it were run again
        return Verdict("unproven", unknown)
    if (disturbed := disturbance_problem(document)) is not None:
        return Verdict("void", disturbed)
    return Verdict("failed", problem) if problem else Verdict("verified", "")


def _own_failure(document: dict[str, Any]) -> str | None:
    """Return what its endpoints did wrong in a trial that the laboratory carried to its end; None where nothing was."""
    if not document["link"]:
        return None
    if document["failure"] is not None:
        return short_reason(document["failure"] + _refused_on_the_way(document["link"]))
    found = (check(document) for check in _CHECKS)
    return next((short_reason(problem) for problem in found if problem), None)


def _refused_on_the_way(link: dict[str, Any]) -> str:
    """Say how many packets the path blocked or policed, which may be why the trial failed."""
    counts: Counter[str] = Counter()
    for side in ("up", "down"):
        counts.update(dropped_by(link.get(side), DropKind.BLOCK, DropKind.POLICER))
    told = [f"{count} {'packets' if count != 1 else 'packet'} as {reason}" for reason, count in counts.items() if count]
    return f"; the path dropped {' and '.join(told)}" if told else ""


def _transport_problem(document: dict[str, Any]) -> str | None:
    """A trial that fell back to another protocol is a failure with that reason."""
    proof, wanted = document["proof"], document["protocol"]
    expected_transport = "quic" if wanted == "h3" else "tcp"
    if proof["transport"] not in (expected_transport, UNPROVEN):
        return f"asked for {HTTP_VERSIONS[wanted]} over {expected_transport}, but the packets were {proof['transport']}"
    for got in (proof["http_version_seen"], proof["http_version"]):
        if got not in (HTTP_VERSIONS[wanted], UNPROVEN):
            return f"asked for {HTTP_VERSIONS[wanted]}, got {got}"
    asked, got = proof["tcp_congestion_control_asked"], proof["tcp_congestion_control"]
    if wanted != "h3" and got not in (asked, UNPROVEN):
        return f"asked for TCP congestion control {asked}, the sender's socket had {got}"
    return None


_CHECKS = (
    *(children_problem, _transport_problem, control_problem, competition_problem),
    *(body_problem, _contradiction, relay_problem, objects_apart, change_problem, shortfall),
)
"""Checks of a trial that ran to its end, in this order."""
