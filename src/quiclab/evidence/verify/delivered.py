# SPDX-License-Identifier: Apache-2.0
"""Objects that a trial was to move, as packets show them: status, bytes and HTTP version, whatever its client says.

A download is whole where a successful response has every byte of the object, or after a change of address several
have them between them by their ranges; an upload where a request that carried all of its bytes was answered with
success.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quiclab.evidence.metrics.asked_for import ASK_NOTHING, is_named_by
from quiclab.evidence.metrics.expected_bytes import cut_by_the_clock
from quiclab.model.expected_content import Expected
from quiclab.model.proof_record import UNPROVEN, HttpResponse
from quiclab.model.trial_record import TrialRecord

HTTP_VERSIONS = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_PARTIAL = 206
_PLAIN = (None, "identity")
"""Content codings that leave a body as it is."""


@dataclass(frozen=True)
class ObjectEvidence:
    """Evidence of the packets about one object."""

    problem: str | None = None
    """Contradiction of the trial."""
    proven: bool = False
    """True if they show that it was moved as it should be; else, without a problem, they do not tell."""


def shown_by_packets(trial: TrialRecord) -> ObjectEvidence:
    """Return the first problem among all objects of a download or an upload, or whether every one is proven."""
    proof, expected = trial.proof, trial.expected
    if proof.http_responses == UNPROVEN:
        return ObjectEvidence()
    wanted = HTTP_VERSIONS[trial.protocol or ""]
    found = [response for response in proof.http_responses if response.method not in ASK_NOTHING]
    if expected.page is not None or expected.video is not None:
        return _refused_documents(found, expected, wanted)
    several = len(expected.listed) > 1
    # Only its request tells which of several objects a response is.
    whole = "http_responses" not in proof.unproven_because and not (several and any(each.url is None for each in found))
    in_parts = may_begin_again(trial)
    objects = [_Object(each.name, each.body_bytes, wanted, whole, in_parts) for each in expected.listed]
    proven = True
    for each in objects:
        # What the path of a foreign server's URL becomes in a request is its client's affair.
        own = found if trial.probe else each.among(found, alone=len(objects) == 1)
        if not own:
            shown = each.never_asked(found)
        elif expected.upload:
            shown = each.uploaded(own)
        else:
            shown = each.begun(own) if cut_by_the_clock(trial) else each.downloaded(own)
        if shown.problem is not None:
            return ObjectEvidence(shown.problem if len(objects) == 1 else f"the object {each.name}: {shown.problem}")
        proven = proven and shown.proven
    return ObjectEvidence(proven=proven)


def unproven(trial: TrialRecord) -> str | None:
    """Reason why nobody can tell what a trial without a problem moved; None where its packets or its client's account
    do.

    A body that the client kept, or that the server took, is known; over which version of HTTP it came is not, unless
    QUIC carried it and the client offered nothing but HTTP/3.
    """
    if shown_by_packets(trial).proven or trial.requests:
        return None
    if cut_by_the_clock(trial) and trial.client_reports:
        return None  # it was ended before it could write its account
    proof = trial.proof
    closed = proof.unproven_because.get("http_responses", "only the client knows how long a decoded body is")
    if not (trial.client_body or trial.received):
        return f"nothing shows what the client got: {closed}, and the client left no account of its own"
    offered = proof.alpn_offered
    if proof.transport == "quic" and offered != UNPROVEN and offered and all(each == "h3" for each in offered):
        return None
    return f"nothing shows the HTTP version: {closed}, and the client left no account of its own"


def may_begin_again(trial: TrialRecord) -> bool:
    """True if the client's address was to change: only then may it go on with a transfer on another connection."""
    return bool(trial.address_change or trial.asked.on_address_change)


@dataclass(frozen=True)
class _Object:
    """One object that was to be moved; its methods take the responses to requests for it."""

    name: str
    length: int | None
    """Length of the body; None for a foreign server's, as nothing is known of it beforehand."""
    wanted: str
    """The version of HTTP."""
    whole: bool
    """True if the packets show all that there was: then what is not there was not."""
    in_parts: bool
    """True if several responses may have its bytes between them."""

    def among(self, found: Iterable[HttpResponse], *, alone: bool) -> list[HttpResponse]:
        """Return the responses for this object. A request in 0-RTT packets that stayed closed has no known URL."""
        return [each for each in found if (alone if each.url is None else is_named_by(each.url, self.name))]

    def downloaded(self, found: Sequence[HttpResponse]) -> ObjectEvidence:
        """Evidence that the client got every byte."""
        good = self._good(found)
        if any(self._is_covered([each]) for each in good):
            return ObjectEvidence(proven=True)
        if self._is_covered(good):
            parts = f"{self.name} was asked for whole, but came in {len(good)} parts, as the packets show"
            return ObjectEvidence(proven=True) if self.in_parts else ObjectEvidence(parts)
        if any(each.content_encoding not in _PLAIN for each in good):
            return ObjectEvidence()  # of an encoded body only the client knows the length
        if not good:
            return self._answered_otherwise(found)
        if not self.whole and not all(each.ended for each in good):
            return ObjectEvidence()
        got = max(each.body_bytes for each in good)
        short = f"the body has {got} bytes instead of {self.length}" if self.length is not None else "the body is empty"
        return ObjectEvidence(f"{short}, as the packets show")

    def begun(self, found: Sequence[HttpResponse]) -> ObjectEvidence:
        """Evidence that the right answer had begun, for a transfer that the clock ended."""
        return ObjectEvidence(proven=True) if self._good(found) else self._answered_otherwise(found)

    def uploaded(self, found: Sequence[HttpResponse]) -> ObjectEvidence:
        """Evidence that a request with every byte was answered with success."""
        good = self._good(found)
        if any(each.sent_bytes == self.length for each in good):
            return ObjectEvidence(proven=True)
        if not good:
            return self._answered_otherwise(found)
        sent = max(each.sent_bytes for each in good)
        short = f"{sent} bytes were uploaded instead of {self.length}, as the packets show"
        return ObjectEvidence(short if self.whole else None)

    def never_asked(self, others: Sequence[HttpResponse]) -> ObjectEvidence:
        """No request for it was seen."""
        if not self.whole:
            return ObjectEvidence()
        other = f": the client asked for {others[0].url}, which got status {others[0].status}" if others else ""
        return ObjectEvidence(f"no request for {self.name} is among the packets{other}")

    def _answered_otherwise(self, found: Sequence[HttpResponse]) -> ObjectEvidence:
        """Return what is wrong: another version of HTTP, a status that is no success, or no answer."""
        other = sorted({str(each.http_version) for each in found if _succeeded(each)})
        refused = [each.status for each in found if each.status is not None and not _succeeded(each)]
        if other:
            told = f"asked for {self.wanted}, got {' and '.join(other)}, as the packets show"
        elif refused:
            return ObjectEvidence(f"the server answered with status {refused[-1]}, as the packets show")
        else:
            told = f"no response to the request for {self.name} is among the packets"
        return ObjectEvidence(told if self.whole else None)

    def _good(self, found: Sequence[HttpResponse]) -> list[HttpResponse]:
        return [each for each in found if each.http_version == self.wanted and _succeeded(each)]

    def _is_covered(self, found: Iterable[HttpResponse]) -> bool:
        """True if these responses have every byte between them, and none has more."""
        spans = sorted(span for each in found if (span := _span(each)) is not None)
        if self.length is None:
            return any(end > start for start, end in spans)
        reach = 0
        for start, end in spans:
            if start > reach or end > self.length:
                return False
            reach = max(reach, end)
        return bool(spans) and reach == self.length


def _refused_documents(found: Sequence[HttpResponse], expected: Expected, wanted: str) -> ObjectEvidence:
    """Evidence of a refusal among the files of a page or video; the player itself tells what it needed."""
    resources = {each.url for each in expected.page.resources} if expected.page else set[str]()
    answers: dict[str, list[int]] = {}
    for each in found:
        if each.url in resources and each.status is not None:
            answers.setdefault(each.url, []).append(each.status)
    for url, statuses in answers.items():
        if all(status >= 400 for status in statuses):
            return ObjectEvidence(f"{url}: the server answered with status {statuses[0]}, as the packets show")
    return ObjectEvidence(proven=any(_succeeded(each) and each.http_version == wanted for each in found))


def _succeeded(response: HttpResponse) -> bool:
    return response.status is not None and response.status // 100 == 2


def _span(response: HttpResponse) -> tuple[int, int] | None:
    """The bytes of the object that a response brought; None where they are encoded or its range cannot be read."""
    if response.content_encoding not in _PLAIN:
        return None
    start = 0
    if response.status == _PARTIAL:
        first = (response.content_range or "").removeprefix("bytes ").partition("-")[0]
        if not first.isdigit():
            return None
        start = int(first)
    return start, start + int(response.body_bytes)
