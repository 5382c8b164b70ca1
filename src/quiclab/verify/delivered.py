# SPDX-License-Identifier: Apache-2.0
"""What the packets show of the objects that a trial was to move: status, bytes and HTTP version, whatever its client says.

A download is whole where its successful responses, by their ranges, have every byte of the object between them; an
upload where a request that carried all of its bytes was answered with success.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quiclab.verify.proof import UNPROVEN

HTTP_VERSIONS = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_PARTIAL = 206
_ASK_NOTHING = ("HEAD", "OPTIONS", "CONNECT")
"""Methods whose answer is not the object."""

Response = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """What the packets say of one object."""

    problem: str | None = None
    """What contradicts the trial."""
    proven: bool = False
    """Whether they show that it was moved as it should be; else, without a problem, they do not tell."""


def shown_by_packets(document: Mapping[str, Any]) -> Shown:
    """Of all objects of a download or an upload together: the first problem, or whether every one is proven."""
    proof, expected = document["proof"], document["expected"]
    if proof["http_responses"] == UNPROVEN:
        return Shown()
    whole = "http_responses" not in proof["unproven_because"]
    wanted = HTTP_VERSIONS[document["protocol"]]
    found = [response for response in proof["http_responses"] if response["method"] not in _ASK_NOTHING]
    if "page" in expected or "video" in expected:
        return _of_documents(found, expected, wanted)
    objects = expected.get("objects", [expected])
    one = _upload if expected.get("direction") == "upload" else _running if cut_by_the_clock(document) else _download
    told = []
    for each in objects:
        # What the path of a foreign server's URL becomes in a request is its client's affair.
        own = found if document.get("probe") else _of_object(found, each["name"], alone=len(objects) == 1)
        shown = one(own, each, wanted, whole) if own else _nothing_asked(found, each, whole)
        if shown.problem is not None:
            return Shown(shown.problem if len(objects) == 1 else f"the object {each['name']}: {shown.problem}")
        told.append(shown.proven)
    return Shown(proven=all(told))


def unproven(document: Mapping[str, Any]) -> str | None:
    """Why nobody can tell what a trial without a problem moved; None where its packets or its client's account do.

    A body that the client kept, or that the server took, is known; over which version of HTTP it came is not, unless
    QUIC carried it and the client offered nothing but HTTP/3.
    """
    if shown_by_packets(document).proven or (document["client"] or {}).get("requests"):
        return None
    if cut_by_the_clock(document) and document.get("client_reports"):
        return None  # it was ended before it could write its account
    proof = document["proof"]
    closed = proof["unproven_because"].get("http_responses", "only the client knows how long a decoded body is")
    if not (document.get("client_body") or document.get("received")):
        return f"nothing shows what the client got: {closed}, and the client left no account of its own"
    offered = proof["alpn_offered"]
    if proof["transport"] == "quic" and offered != UNPROVEN and offered and all(each == "h3" for each in offered):
        return None
    return f"nothing shows the HTTP version: {closed}, and the client left no account of its own"


def cut_by_the_clock(document: Mapping[str, Any]) -> bool:
    """Whether the transfer ended with its competition's time, wherever it stood."""
    competition = document.get("competition") or {}
    return competition.get("lasts_ns") is not None and document["client_exit_code"] is None


def _of_object(found: Iterable[Response], name: str, *, alone: bool) -> list[Response]:
    """Responses to requests for one object. The URL of a request in 0-RTT packets that stayed closed is not known."""
    return [each for each in found if (alone if each["url"] is None else _names(each["url"], name))]


def _names(url: str, name: str) -> bool:
    path = url.partition("://")[2].partition("/")[2]
    return path == name.lstrip("/") or path.partition("?")[0].rpartition("/")[2] == name


def _download(found: Sequence[Response], expected: Mapping[str, Any], wanted: str, whole: bool) -> Shown:
    good = [each for each in found if each["http_version"] == wanted and _succeeded(each)]
    length = expected["body_bytes"]
    if any(_is_whole([each], length) for each in good) or _is_whole(good, length):
        return Shown(proven=True)
    if any(each["content_encoding"] not in (None, "identity") for each in good):
        return Shown()  # of an encoded body only the client knows the length
    if problem := _other_answer(found, good, wanted, whole):
        return Shown(problem)
    if good and (whole or all(each["ended"] for each in good)):
        if length is None:
            return Shown("the body is empty, as the packets show")
        got = max(each["body_bytes"] for each in good)
        return Shown(f"the body has {got} bytes instead of {length}, as the packets show")
    return _unanswered(expected, whole)


def _running(found: Sequence[Response], expected: Mapping[str, Any], wanted: str, whole: bool) -> Shown:
    """The clock ended it: that the right answer had begun is all that it had to show."""
    good = [each for each in found if each["http_version"] == wanted and _succeeded(each)]
    if good:
        return Shown(proven=True)
    return Shown(_other_answer(found, good, wanted, whole))


def _upload(found: Sequence[Response], expected: Mapping[str, Any], wanted: str, whole: bool) -> Shown:
    good = [each for each in found if each["http_version"] == wanted and _succeeded(each)]
    if any(each["sent_bytes"] == expected["body_bytes"] for each in good):
        return Shown(proven=True)
    if problem := _other_answer(found, good, wanted, whole):
        return Shown(problem)
    if good and whole:
        sent = max(each["sent_bytes"] for each in good)
        return Shown(f"{sent} bytes were uploaded instead of {expected['body_bytes']}, as the packets show")
    return _unanswered(expected, whole)


def _of_documents(found: Sequence[Response], expected: Mapping[str, Any], wanted: str) -> Shown:
    """Of a page or a video a player tells what was needed; that nothing of it was refused, the packets do."""
    resources = {each["url"] for each in (expected.get("page") or {}).get("resources", ())}
    answers: dict[str, list[int]] = {}
    for each in found:
        if each["url"] in resources and each["status"] is not None:
            answers.setdefault(each["url"], []).append(each["status"])
    for url, statuses in answers.items():
        if all(status >= 400 for status in statuses):
            return Shown(f"{url}: the server answered with status {statuses[0]}, as the packets show")
    return Shown(proven=any(_succeeded(each) and each["http_version"] == wanted for each in found))


def _other_answer(found: Sequence[Response], good: Sequence[Response], wanted: str, whole: bool) -> str | None:
    """An answer that is none that was wanted: another status, or another version of HTTP."""
    refused = [each["status"] for each in found if each["status"] is not None and not _succeeded(each)]
    other = {each["http_version"] for each in found if _succeeded(each)} - {wanted}
    if good or not (refused or other):
        return None
    if other:
        return f"asked for {wanted}, got {' and '.join(sorted(other))}, as the packets show" if whole else None
    return f"the server answered with status {refused[-1]}, as the packets show"


def _nothing_asked(others: Sequence[Response], expected: Mapping[str, Any], whole: bool) -> Shown:
    if not whole:
        return Shown()
    other = f": the client asked for {others[0]['url']}, which got status {others[0]['status']}" if others else ""
    return Shown(f"no request for {expected['name']} is among the packets{other}")


def _unanswered(expected: Mapping[str, Any], whole: bool) -> Shown:
    return Shown(f"no response to the request for {expected['name']} is among the packets" if whole else None)


def _succeeded(response: Response) -> bool:
    return response["status"] is not None and response["status"] // 100 == 2


def _is_whole(found: Iterable[Response], length: int | None) -> bool:
    """Whether these responses have every byte of an object between them, and none has more."""
    spans = sorted(span for each in found if (span := _span(each)) is not None)
    if length is None:
        return any(end > start for start, end in spans)
    reach = 0
    for start, end in spans:
        if start > reach or end > length:
            return False
        reach = max(reach, end)
    return bool(spans) and reach == length


def _span(response: Response) -> tuple[int, int] | None:
    """The bytes of the object that a response brought; None where they are encoded or its range cannot be read."""
    if response["content_encoding"] not in (None, "identity"):
        return None
    start = 0
    if response["status"] == _PARTIAL:
        first = (response["content_range"] or "").removeprefix("bytes ").partition("-")[0]
        if not first.isdigit():
            return None
        start = int(first)
    return start, start + int(response["body_bytes"])
