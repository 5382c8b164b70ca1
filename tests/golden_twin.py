# SPDX-License-Identifier: Apache-2.0
"""The golden twin (`crates/twin`): transfers in virtual time, the account of each, and what its account should say.

**Attribution error** of a category: the time that the account gives it less the time that it truly has, as a share of
the whole, without its sign. Like is compared with like: the account describes a partition of the time in which the
bottleneck has priority, so its truth is the same partition, made by the simulator from the state of the sender itself,
instant by instant (`crates/twin/src/truth.rs`). It is no counterfactual. Where one cause alone holds a sender back, the
share is its effect as well, and `Twin.effect_ns` measures that by running the same case without the cause.

Two labels that the evidence cannot tell apart are one category on both sides (`told`), as in a comparison of arms.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl
from trial_records import record

from quiclab.evidence.metrics import Evidence
from quiclab.model.tables import TABLES
from quiclab.why.account import UNIONS, What, Why, account_table

ROOT = Path(__file__).resolve().parent.parent
Case = Mapping[str, Any]
"""Keys of `Case` in crates/twin/src/case.rs."""
Logs = Literal["captures", "state", "own_word"]
"""How much the server tells of itself: `Logs` in crates/twin/src/tables.rs."""

_AT_ONCE = 10
"""Transfers of which one process of the twin writes the tables, so that memory stays bounded."""
_PACES = dict.fromkeys((*UNIONS[Why.PACING_OR_PROGRAM], Why.PACING_OR_PROGRAM), Why.PACING_OR_PROGRAM)
_ONE_LABEL: dict[Logs, dict[Why, Why]] = {
    "own_word": {},
    "state": _PACES,
    "captures": _PACES | dict.fromkeys((*UNIONS[Why.AWAITING_ACKS], Why.AWAITING_ACKS), Why.AWAITING_ACKS),
}
"""Labels that the evidence cannot tell apart → the one for all."""


@dataclass(frozen=True)
class Run:
    """One transfer of the twin."""

    case: Case
    total_ns: int
    truth: Mapping[Why, int]
    evidence: Evidence

    @cached_property
    def account(self) -> pl.DataFrame:
        """The table `account` of it; without rows where it is refused."""
        return account_table(self.evidence)

    def shares(self) -> Counter[Why | What]:
        """Nanoseconds that the account gives each label, by *why* and by *what*."""
        found: Counter[Why | What] = Counter()
        for why, what, from_ns, until_ns in self.account.select("why", "what", "from_ns", "until_ns").iter_rows():
            found[Why(why)] += until_ns - from_ns
            found[What(what)] += until_ns - from_ns
        return found

    def errors(self, logs: Logs) -> dict[Why, float]:
        """Attribution error of each category that so much evidence can tell."""
        account: Counter[Why] = Counter()
        for why, from_ns, until_ns in self.account.select("why", "from_ns", "until_ns").iter_rows():
            account[Why(why)] += until_ns - from_ns
        return errors(told(account, logs), told(self.truth, logs))


@dataclass(frozen=True)
class Twin:
    """The twin's program."""

    program: Path

    def answers(self, asked: Iterable[Mapping[str, Any]]) -> list[str]:
        """Its answer to each question, in order, as JSON."""
        lines = "".join(json.dumps(each) + "\n" for each in asked)
        found = subprocess.run([self.program], input=lines, capture_output=True, text=True, check=False)
        if found.returncode:
            raise RuntimeError(found.stderr)
        return found.stdout.splitlines()

    def runs(self, cases: Sequence[Case], *, logs: Logs = "state") -> Iterator[Run]:
        """Transfers with their tables, as much of the server's logs among them as `logs` says."""
        for first in range(0, len(cases), _AT_ONCE):
            some = cases[first : first + _AT_ONCE]
            answers = self.answers({"case": case, "logs": logs} for case in some)
            yield from (_run(case, json.loads(answer)) for case, answer in zip(some, answers, strict=True))

    def effect_ns(self, case: Case, **without: Any) -> int:
        """Time that a case takes more than the same case with these keys changed: exact, as all else is the same."""
        both = self.answers({"case": each, "only_total": True} for each in (case, {**case, **without}))
        longer, shorter = (json.loads(answer)["total_ns"] for answer in both)
        return int(longer - shorter)


@cache
def built(profile: Literal["dev", "release"] = "dev") -> Twin:
    """The twin, built now; quick where nothing has changed since the crates' own tests or the last time."""
    command = ["cargo", "build", "--quiet", "--locked", "--workspace", "--exclude", "py-core", "--bin", "quiclab-twin"]
    subprocess.run([*command, "--profile", profile], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Twin(target / {"dev": "debug", "release": "release"}[profile] / "quiclab-twin")


def told(shares_ns: Mapping[Why, int], logs: Logs) -> dict[Why, int]:
    """The categories that so much evidence can tell."""
    found: Counter[Why] = Counter()
    for why, length_ns in shares_ns.items():
        found[_ONE_LABEL[logs].get(why, why)] += length_ns
    return found


def errors(account: Mapping[Why, int], truth: Mapping[Why, int]) -> dict[Why, float]:
    """Attribution error of each category: its difference as a share of the whole, without its sign."""
    total = sum(truth.values())
    labels = [why for why in Why if account.get(why) or truth.get(why)]
    return {why: abs(account.get(why, 0) - truth.get(why, 0)) / total for why in labels}


def _run(case: Case, answer: Mapping[str, Any]) -> Run:
    truth: Counter[Why] = Counter()
    for label, from_ns, until_ns in answer["truth"]:
        truth[Why(label)] += until_ns - from_ns
    tables = {name: _table(name, columns) for name, columns in answer["tables"].items()}
    return Run(case, answer["total_ns"], truth, Evidence(tables, record(_trial(case))))


def _table(name: str, columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    """A table as a decoder leaves it: columns that the twin does not fill are null."""
    schema = TABLES[name].schema()
    made = pl.DataFrame(columns, schema={column: schema[column] for column in columns})
    empty = [pl.lit(None, dtype=dtype).alias(column) for column, dtype in schema.items() if column not in columns]
    return made.with_columns(empty).select(*schema)


def _trial(case: Case) -> dict[str, Any]:
    body_bytes = case.get("body_bytes", 1_000_000)
    others = {"competition": {"flows": []}} if case.get("other_rate") else {}
    return {
        **others,
        "protocol": case.get("protocol", "h2"),
        "ip_version": 4,
        "expected": {"direction": "download", "name": "body", "body_bytes": body_bytes},
        "links": [{"leg": "client", "packet_log": "link.qplog"}],
    }
