# SPDX-License-Identifier: Apache-2.0
"""Check that what was asked for, or sent, is what arrived: bytes and hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quiclab.model.client_account import ClientRequest
from quiclab.model.expected_content import ExpectedObject, ExpectedPage
from quiclab.model.trial_record import KeptBody, TrialRecord

_SUCCESS = 2
"""First digit of the status (RFC 9110 section 15.3)."""


def body_problem(trial: TrialRecord) -> str | None:
    """Return what is wrong with what arrived: for a download by the client's account or the body that it kept, for an
    upload by what the server kept."""
    expected = trial.expected
    requests = trial.requests
    if expected.upload:
        return _upload_problem(requests, expected.listed, trial.received)
    if expected.page is not None:
        return page_problem(requests, expected.page)
    if expected.video is not None:  # the player reports an error unless all that was watched was loaded
        return next((f"the client: {each.error}" for each in requests if each.error is not None), None)
    if expected.objects is not None:
        return _objects_problem(requests, expected.objects)
    wanted = expected.listed[0]
    for request in requests:
        if (problem := _request_problem(request, wanted)) is not None:
            return problem
    return _content_problem(trial.client_body, wanted) if trial.client_body else None


def _objects_problem(requests: Sequence[ClientRequest], objects: Sequence[ExpectedObject]) -> str | None:
    """The first of several objects that is wrong or was never asked for, by its name."""
    told = {(request.url or "").rpartition("/")[2]: request for request in requests}
    for expected in objects:
        request = told.get(expected.name)
        if request is None:
            return f"the object {expected.name} is missing from the client's account"
        if (problem := _request_problem(request, expected)) is not None:
            return f"the object {expected.name}: {problem}"
    return None


def _upload_problem(
    requests: Sequence[ClientRequest], objects: Sequence[ExpectedObject], received: Mapping[str, KeptBody]
) -> str | None:
    """The first object that the server did not take, or did not get as it was sent."""
    for request in requests:
        if request.error is not None:
            return f"the client: {request.error}"
        if request.status is not None and request.status // 100 != _SUCCESS:
            return f"the server answered with status {request.status}"
    for each in objects:
        got = received.get(each.name)
        if got is None:
            return f"the object {each.name} did not arrive at the server"
        if (problem := _content_problem(got, each)) is not None:
            return f"the object {each.name}, as the server has it: {problem}"
    return None


def _request_problem(request: ClientRequest, expected: ExpectedObject) -> str | None:
    if request.error is not None:
        return f"the client: {request.error}"
    # Some command-line clients do not report the status; the body stands for it.
    if request.status not in (200, None):
        return f"the server answered with status {request.status}"
    return _content_problem(request, expected)


def _content_problem(got: ClientRequest | KeptBody, expected: ExpectedObject) -> str | None:
    if expected.body_bytes is None:  # a foreign server's objects may change
        return None if got.body_bytes else "the body is empty"
    if got.body_bytes != expected.body_bytes:
        return f"the body has {got.body_bytes} bytes instead of {expected.body_bytes}"
    if got.sha256 != expected.sha256:
        return "the body has the right length and the wrong content (SHA-256 differs)"
    return None


# The check that a page came whole, by the browser's account of its resources.
def page_problem(requests: Sequence[ClientRequest], page: ExpectedPage) -> str | None:
    """Return the first known resource that did not come whole; what a mirrored page lacks does not count."""
    came = {request.url: request for request in requests}
    for resource in page.resources:
        request = came.get(resource.url)
        if request is None:
            return f"the browser did not load {resource.url}"
        # The browser hides the status of answers from other hosts; the body tells.
        if request.status not in (200, None):
            return f"{resource.url}: the server answered with status {request.status}"
        if request.status is None and not request.decoded_bytes:
            return f"{resource.url}: no answer"
        if request.decoded_bytes != resource.bytes:
            return f"{resource.url} has {request.decoded_bytes} bytes instead of {resource.bytes}"
    return None
