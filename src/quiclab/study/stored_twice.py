# SPDX-License-Identifier: Apache-2.0
"""Members of a trial.json that the study has a second time, held against each other: the content that was to arrive,
the clocks, and what client and link told."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from quiclab.lab.runner.account import text_problem
from quiclab.lab.runner.document import objects_document, read_json, video_document
from quiclab.lab.workloads import build_site
from quiclab.model.errors import DecodeError
from quiclab.model.number_text import counted
from quiclab.model.study import Study, Workload
from quiclab.store.disk import read_object
from quiclab.store.record_form import view_of
from quiclab.store.trial_views import ClockReadings
from quiclab.study.differences import Difference, json_differences, raw_file_differences, short_text

_MOST_BYTES = 64_000_000
"""Objects of a workload that are made anew to be hashed: the spec may be anybody's, and ask for more than the memory
holds."""
_ROUNDED_NS = 2_000_000
"""Most by which two readings of one clock differ: a time of day in trial.json has milliseconds."""
_SLEWED = 1e-3
"""Share of a span by which CLOCK_REALTIME may be slewed against CLOCK_MONOTONIC: twice what Linux allows."""
_START, _END = "realtime_minus_monotonic_start_ns", "realtime_minus_monotonic_end_ns"


_UNKNOWN = ""
"""Stand-in for a hash that is not known."""


def content_asked(study: Study, workload: Workload) -> dict[str, object] | None:
    """The member `expected` of a trial.json that a spec gives its workload, with hashes where the objects are not too
    large to be made anew; None of a page, which needs more than the spec."""
    if workload.page is not None:
        return None
    name = workload.object_names[0]
    if workload.video is not None:
        return dict(json.loads(json.dumps({"video": video_document(workload.video, name, None)})))
    if workload.total.bytes > _MOST_BYTES:
        sizes = zip(workload.object_names, workload.object_sizes, strict=True)
        return objects_document(workload, {name: (size.bytes, _UNKNOWN) for name, size in sizes})
    files = build_site(workload, study.seed).files
    return objects_document(
        workload, {name: (len(body), hashlib.sha256(body).hexdigest()) for name, body in files.items()}
    )


def content_differences(document: Mapping[str, object], asked: Mapping[str, object], by: str) -> list[Difference]:
    """Differences between the content that a trial.json expects and that of the spec. Nothing of a probe's trial, whose
    servers are of others; nor of what the spec does not tell, the hash of large objects and the length of a film."""
    if document.get("probe"):
        return []
    found = json_differences("trial.json", document.get("expected"), dict(asked), "expected", by)
    unknown = short_text(_UNKNOWN)
    return [each for each in found if each.found != unknown and each.what != "expected.video.file_bytes"]


def usual_pages(folders: Collection[Path]) -> dict[str, tuple[object, str]]:
    """Workload → page that most of its trials expect, with words that say how many do. A trial.json that cannot be read
    is left out."""
    found: dict[str, list[object]] = {}
    for folder in folders:
        with suppress(DecodeError):
            document = read_object(folder / "trial.json")
            expected, row = document.get("expected"), document.get("row")
            if isinstance(expected, dict) and isinstance(row, dict) and "page" in expected:
                found.setdefault(str(row.get("workload")), []).append(expected)
    usual = {}
    for workload, pages in found.items():
        digests = [json.dumps(each, sort_keys=True) for each in pages]
        digest, number = Counter(digests).most_common(1)[0]
        usual[workload] = (pages[digests.index(digest)], f"{number} of {counted(len(pages), 'trial')} of {workload}")
    return usual


def clock_differences(document: Mapping[str, object]) -> list[Difference]:
    """Differences between the clocks of a trial.json: what the link read of them, and the begin by each of them."""
    trial = view_of(document, _Clocks)
    if trial is None:
        return []
    span_ns = sum(trial.time_ns.values())
    most_ns = _ROUNDED_NS + int(_SLEWED * span_ns)
    of_link = trial.link.clock if trial.link else None
    found = []
    if of_link is not None:
        for name in (_START, _END):
            kept, told = getattr(trial.clock, name, None), getattr(of_link, name)
            if kept is None or abs(kept - told) > most_ns:
                kept_text = short_text(kept)
                found.append(Difference("trial.json", f"clock.{name}", kept_text, f"about {told}", "raw/link.json"))
    clock = of_link or trial.clock
    if clock is None:
        return found
    began_ns = trial.started_monotonic_ns + clock.realtime_minus_monotonic_start_ns
    with suppress(ValueError, OverflowError, OSError):
        told_ns = int(datetime.fromisoformat(trial.started_utc).timestamp() * 1000) * 10**6
        if abs(told_ns - began_ns) > most_ns:
            began = datetime.fromtimestamp(began_ns / 1e9, UTC).isoformat(timespec="milliseconds")
            by = "started_monotonic_ns and the clock of the trial"
            found.append(Difference("trial.json", "started_utc", trial.started_utc, began, by))
    return found


class _Link(msgspec.Struct, frozen=True):
    """Clocks by the link's account."""

    clock: ClockReadings | None = None


class _Clocks(msgspec.Struct, frozen=True):
    """Everything in a trial.json that was read from a clock when it began and when it ended."""

    started_utc: str
    started_monotonic_ns: int
    clock: ClockReadings | None = None
    link: _Link | None = None
    time_ns: dict[str, int] = msgspec.field(default_factory=dict)


def account_differences(folder: Path, document: Mapping[str, object]) -> list[Difference]:
    """Differences between what a trial.json has of client and link and the files that they were read from."""
    found = raw_file_differences(folder / "raw" / "link.json", document.get("link"), "link")
    kept, file = document.get("client"), folder / "raw" / "client.json"
    if kept is None and (document.get("own_client") or text_problem(read_json(file)) is not None):
        return found  # an account that could not be used
    return [*found, *raw_file_differences(file, kept, "client")]
