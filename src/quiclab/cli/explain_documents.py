# SPDX-License-Identifier: Apache-2.0
"""Documents that `quiclab explain` prints with --json, as dataclasses, and explanations as such documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.cli.as_json import as_json
from quiclab.cli.status_document import VERSION
from quiclab.compare.model import Conclusion
from quiclab.compare.statistics import Interval
from quiclab.report.words.explanation_text import headline
from quiclab.why.account.one_end import Span
from quiclab.why.accounts import Step
from quiclab.why.cause_parts import FactOfArms
from quiclab.why.causes import Verdict
from quiclab.why.confirm.records import Confirmation, judgement_document
from quiclab.why.explanation import Explanation
from quiclab.why.prediction.in_arm import PredictedEffect
from quiclab.why.recordings import RecordedStep, Recording, Recordings


@dataclass(frozen=True)
class FollowerEntry:
    """A mechanism that takes longer for another one's sake, and is itself as much in both arms."""

    name: str
    """The mechanism."""
    difference_ms: float
    """Mean of other − baseline: a part of the other one's difference."""
    facts: tuple[FactOfArms, ...]
    """Numbers of the trials that would differ where it differed by itself."""


@dataclass(frozen=True)
class CauseEntry:
    """The verdict on one part of a cell's difference."""

    name: str
    """The mechanism (docs/reference/causes.md), or `several:REASON`, `unknown:REASON`."""
    status: str
    """`confirmed`, `rejected`, `indicated`, `shown by the records`, `luck`, `several, not separable`, `unknown cause`,
    `undecided` or `in both arms`."""
    baseline_ms: float
    """Mean time of it in the baseline."""
    other_ms: float
    """Mean time of it in the other arm."""
    difference_ms: float
    """Mean of other − baseline."""
    interval_ms: Interval | None
    """Interval of the difference; null for fewer than three pairs."""
    p: float | None
    """Value of p: the larger of the exact signed-rank test's of the pairs' differences, and of their mean's."""
    adjusted_p: float | None
    """Adjusted p: after Benjamini–Hochberg over the parts."""
    pairs_needed: int | None
    """Pairs like these that would show the difference in four studies of five; null where it is shown, where these tell
    too little of others, and where 400 are not enough."""
    rivals: tuple[str, ...]
    """Mechanisms that cannot be told apart here."""
    evidence: tuple[str, ...]
    """Tables that decided."""
    facts: tuple[FactOfArms, ...]
    """Numbers behind it."""
    against: tuple[str, ...]
    """Evidence against it."""
    followers: tuple[FollowerEntry, ...]
    """Mechanisms that follow from it: their differences are parts of `difference_ms`."""
    predicted: PredictedEffect | None
    """Time by which the arm that has more of it would be faster without it; null where the records do not tell."""


@dataclass(frozen=True)
class ConfirmationEntry:
    """A run that put a cause to the test."""

    cause: str
    """The mechanism."""
    arm: str
    """Arm that has it, or more of it."""
    other: str
    """Arm that it is compared with."""
    directory: str
    """Directory of the confirming study."""
    sound: bool
    """True if declaration and spec are as they were before the run. Otherwise it counts for nothing."""
    verdict: Mapping[str, object] | None
    """Verdict (`confirmed`, `condition`, `rejected` or `undecided`), checks and effects, as `verdict.json` there keeps
    them; null where it has not been judged."""


@dataclass(frozen=True)
class AccountEntry:
    """The account of one cell: where the time went in both arms."""

    cell_id: str
    """The cell: `WORKLOAD/PATH`."""
    baseline: str
    """Name of the baseline arm."""
    other: str
    """Name of the other arm."""
    conclusion: Conclusion
    """Conclusion of the cell's comparison; if it is `not judged`, its account is not tested."""
    conclusion_why: str
    """A sentence where the comparison is undecided, not judged or not measured."""
    headline: str
    """The sentence that explain, report and terminal print of the cell: of `causes`, with the same numbers."""
    of: str
    """Scope of the accounts: `ttlb`, `start_up` of videos, or `stall` of videos, all stalls of a trial together."""
    pairs: int
    """Pairs in which both trials have an account."""
    pairs_without_account: int
    """Further pairs of verified trials, in which one or both have none."""
    baseline_served_bytes: float
    """Mean bytes that the bottleneck served towards the baseline's client."""
    other_served_bytes: float
    """Mean bytes that it served towards the other arm's client."""
    why: tuple[Step, ...]
    """One for each reason for which the sender had not sent earlier; they add up to the whole time."""
    what: tuple[Step, ...]
    """One for each thing that passes the time; they add up to the whole time, too."""
    roles: tuple[Step, ...]
    """One for each stage of the transfer: handshake, request, each tenth of the bytes, an upload's answer."""
    total: Step | None
    """The whole time; null without a pair."""
    causes: tuple[CauseEntry, ...]
    """Verdicts on the parts of the difference, the largest first; empty where tables name no mechanisms."""
    rest_ms: float | None
    """Difference of the parts that are too small to be told: with those of `causes` it adds up to that of `total`; null
    where there are none."""
    confirmations: tuple[ConfirmationEntry, ...]
    """Runs of `--confirm` in this cell, those without a decision too."""


@dataclass(frozen=True)
class ExplainDocument:
    """Time of a transfer in each arm, by reason and cause."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    accounts: tuple[AccountEntry, ...]
    """One for each comparison that was asked for."""


@dataclass(frozen=True)
class ConfirmDocument:
    """A cause that is put to the test: what was declared before the run, and what the run showed."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the confirming study."""
    sha256: str
    """Hash of the declaration."""
    declared: Mapping[str, object]
    """The declaration, as `declared.json` in that directory keeps it: times are in ms."""
    verdict: Mapping[str, object] | None
    """Verdict, checks and effects, as `verdict.json` there keeps them; null with --dry-run."""


@dataclass(frozen=True)
class SpanEntry:
    """A time, with the least and the most that the recording allows."""

    time_ms: float
    """The time."""
    least_ms: float
    """Least that the recording allows."""
    most_ms: float
    """Most that the recording allows."""


@dataclass(frozen=True)
class PartEntry:
    """One part of the time in both recordings."""

    part: str
    """Name of the part; `total` is the whole time to the last byte."""
    first: SpanEntry
    """The time in the first recording."""
    second: SpanEntry
    """The time in the second recording."""
    difference: SpanEntry
    """Time of the second less that of the first."""
    sign_is_told: bool
    """True if the recordings are exact enough to tell which took longer."""


@dataclass(frozen=True)
class RecordingEntry:
    """One recording, and what it shows besides the parts of the time."""

    name: str
    """Short name in tables: `h2`, `h3`, or what tells two of one protocol apart."""
    file: str
    """Name of the recording."""
    level: str
    """Level of evidence: `E1` to `E5` (docs/explanation/account.md)."""
    client_round_trip_ms: float | None
    """Round trip to the client of a capture between the ends; of QUIC at most. Null of a recording of an end."""
    server_round_trip_ms: float | None
    """Round trip from there to the server."""
    path_rate_bit_per_s: float | None
    """Rate at which the path served, by the arrivals; null where packets came in bunches, which show none."""
    path_rate_low_bit_per_s: float | None
    """Least that this rate can be."""
    path_rate_high_bit_per_s: float | None
    """Most that this rate can be."""
    first_round_trip_ms: float
    """Time from the client's first packet to the server's; E4: the least round trip that the server measured."""
    answer_wire_bytes: int
    """Bytes of the answer's packets, with IP headers."""
    end_is_shown: bool
    """True if the recording shows that the answer ended; of QUIC no packet does without keys."""
    long_waits: int
    """Number of waits of half a round trip and more."""
    long_waits_ms: float
    """Sum of these waits."""
    bytes_missing_ms: float | None
    """Time in which bytes had come that could not be read, as earlier ones were missing; null where nothing tells."""
    url: str | None
    """Address of the request; null where the recording does not show it."""
    stream_id: int | None
    """Stream of the request, where it was chosen of several."""
    other_requests: int
    """Number of other answered requests in the recording."""
    unended_requests: int
    """Number of requests in the recording whose answers it has not to their ends: any of them may have taken longer."""
    is_cut_short: bool
    """True if the file lacks its end: it ends within a record, or its program did not close it."""
    other_bytes_before: int
    """Bytes of other answers that came on its connection from the request to its answer's first byte."""
    other_bytes_during: int
    """Bytes of other answers that came from its answer's first byte to its last."""


@dataclass(frozen=True)
class RecordingsDocument:
    """Differences between the times of two recorded transfers. One transfer each is no test: there is no interval, no
    p."""

    version: int
    """Version of the document's form."""
    first: RecordingEntry
    """The first recording: of HTTP/2 with --h2 and --h3."""
    second: RecordingEntry
    """The second recording."""
    parts: tuple[PartEntry, ...]
    """One for each part that both recordings can tell; they add up to the whole."""
    total: PartEntry
    """The whole time to the last byte."""


@dataclass(frozen=True)
class OnePartEntry:
    """One part of the time of the only recording."""

    part: str
    """Name of the part; `total` is the whole time to the last byte."""
    time: SpanEntry
    """The time."""
    lower_bound_ms: float | None
    """Least time over this path; null where the recording shows no rate, or is a server's."""
    client_side_ms: float | None
    """Part of it on the client's side of a capture between the ends; null where nothing tells."""


@dataclass(frozen=True)
class RecordingDocument:
    """Parts of the time of one recorded transfer."""

    version: int
    """Version of the document's form."""
    recording: RecordingEntry
    """The recording."""
    parts: tuple[OnePartEntry, ...]
    """One for each part that the recording tells; they add up to the whole."""
    total: OnePartEntry
    """The whole time to the last byte."""


def explain_document(directory: Path, cells: Sequence[Explanation]) -> object:
    """The document about a study, one entry for each comparison."""
    return as_json(ExplainDocument(VERSION, str(directory), tuple(map(_entry, cells))))


def _entry(explanation: Explanation) -> AccountEntry:
    waterfall, comparison = explanation.waterfall, explanation.comparison
    return AccountEntry(
        comparison.cell_id,
        comparison.baseline.arm,
        comparison.other.arm,
        comparison.conclusion,
        comparison.why,
        headline(explanation),
        str(waterfall.of),
        waterfall.pairs,
        waterfall.without,
        *waterfall.served_bytes,
        waterfall.steps,
        waterfall.floor,
        waterfall.roles,
        waterfall.total if waterfall.pairs else None,
        tuple(map(cause_entry, explanation.causes)),
        explanation.rest_ms,
        tuple(map(_confirmation, explanation.runs)),
    )


def cause_entry(verdict: Verdict) -> CauseEntry:
    """A verdict as the document has it."""
    step = verdict.step
    return CauseEntry(
        verdict.name,
        str(verdict.status),
        step.baseline_ms,
        step.other_ms,
        step.difference_ms,
        step.interval_ms,
        step.p,
        step.adjusted_p,
        verdict.pairs_needed,
        tuple(each.name for each in verdict.rivals),
        verdict.evidence,
        verdict.facts,
        verdict.against,
        tuple(FollowerEntry(each.mechanism.name, each.difference_ms, each.facts) for each in verdict.followers),
        verdict.without,
    )


def _confirmation(run: Confirmation) -> ConfirmationEntry:
    declared, judgement = run.declared, run.judgement
    return ConfirmationEntry(
        declared.mechanism,
        declared.arm,
        declared.other,
        str(run.directory),
        run.sound,
        None if judgement is None else judgement_document(judgement),
    )


def recording_document(shown: Recording) -> object:
    """The document about one recording."""
    bound = shown.account.lower_bound_ms
    parts = tuple(
        OnePartEntry(str(part), _span(span), bound[part] if bound else None, shown.account.client_side_ms.get(part))
        for part, span in shown.account.parts.items()
    )
    total = OnePartEntry("total", _span(shown.account.total), sum(bound.values()) if bound else None, None)
    return as_json(RecordingDocument(VERSION, _recording(shown), parts, total))


def recordings_document(shown: Sequence[Recording], found: Recordings) -> object:
    """The document about two recordings."""
    first, second = map(_recording, shown)
    return as_json(RecordingsDocument(VERSION, first, second, tuple(map(_part, found.steps)), _part(found.total)))


def _recording(shown: Recording) -> RecordingEntry:
    account, between = shown.account, shown.account.seen.between
    low, high = (None, None) if account.rate_bit_per_s is None else account.rates_bit_per_s
    long = account.long_waits_ms
    return RecordingEntry(
        shown.name,
        shown.file,
        str(account.level),
        None if between is None else between.place.client_ns / 1e6,
        None if between is None else between.place.server_ns / 1e6,
        account.rate_bit_per_s,
        low,
        high,
        account.seen.round_trip_ns / 1e6,
        account.seen.answer_bytes,
        account.end_is_shown,
        len(long),
        float(long.sum()),
        account.missing_ms,
        account.seen.url,
        None if account.seen.request is None else account.seen.request.stream_id,
        0 if account.seen.request is None else account.seen.request.others,
        shown.unended,
        shown.is_cut_short,
        account.seen.bytes_meanwhile.others_before,
        account.seen.bytes_meanwhile.others_during,
    )


def _part(step: RecordedStep) -> PartEntry:
    first, second, difference = map(_span, (step.first, step.second, step.difference))
    return PartEntry(str(step.part or "total"), first, second, difference, step.has_clear_sign)


def _span(span: Span) -> SpanEntry:
    return SpanEntry(span.ms, span.low_ms, span.high_ms)
