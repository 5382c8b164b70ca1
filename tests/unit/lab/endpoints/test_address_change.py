# SPDX-License-Identifier: Apache-2.0
"""A change of the client's address: which arms can have one, and what their clients are told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from contexts import CONTEXT, WORK

from quiclab.lab.endpoints import Context, find, objections
from quiclab.model.address_change import AddressChange
from quiclab.model.study import Arm, Knobs, Program, Tcp, Workload
from quiclab.model.units import ByteCount, Duration

CHANGE = AddressChange(ByteCount(400), notice="timeout", timeout=Duration(7))
MOVING, STABLE = Workload("moving", ByteCount(1000), address_change=CHANGE), Workload("stable", ByteCount(1000))


def _arm(client: str, protocol: str, **knobs: object) -> Arm:
    program = Program(client, knobs=Knobs(**knobs))  # type: ignore[arg-type]
    return Arm("x", protocol, program, Program("caddy"), Tcp("reno"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("client", "protocol", "answer"),
    [("quiche", "h3", "migrate"), ("quiche", "h3", "rebind"), ("curl-cffi", "h2", "resume")],
)
def test_who_knows_what_to_do_can_have_one(client: str, protocol: str, answer: str) -> None:
    """The control beside it too."""
    assert objections(_arm(client, protocol, on_address_change=answer), [MOVING, STABLE]) == []


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        (_arm("quiche", "h3"), "moving changes the client's address: the client quiche needs on_address_change"),
        (_arm("chromium", "h3", on_address_change="restart"), "the client chromium has no on_address_change over h3"),
        (_arm("quiche", "h3", on_address_change="resume"), 'on_address_change = "resume" is not possible'),
        (_arm("curl-cffi", "h2", on_address_change="migrate"), 'on_address_change = "migrate" is not possible'),
        (_arm("curl-cffi", "h2", reconnect_session="fresh"), "write on_address_change"),
        (_arm("quiche", "h3", on_address_change="migrate", migration="active"), "clients that move by themselves"),
    ],
)
def test_who_cannot_is_refused(arm: Arm, words: str) -> None:
    """When the plan is made."""
    assert any(words in told for told in objections(arm, [MOVING]))


def test_a_compressed_body_is_not_resumed() -> None:
    """Its ranges are of other bytes."""
    arm = _arm("curl-cffi", "h2", on_address_change="resume", compression=True)
    arm = replace(arm, server=Program("caddy", knobs=Knobs(compression=True)))
    assert objections(arm, [STABLE]) == []
    assert objections(arm, [MOVING]) == ["a compressed body cannot be resumed by its bytes"]


def _job(client: str, context: Context) -> dict[str, object]:
    (text,) = find("client", client).command(context).files.values()
    return dict(json.loads(text))


@pytest.mark.parametrize("client", ["quiche", "curl-cffi"])
def test_the_client_is_told_what_will_happen(client: str) -> None:
    """Where to say how far it is, and how it will learn; nothing where the address is stable."""
    answer = "migrate" if client == "quiche" else "restart"
    context = replace(CONTEXT, program=Program(client, knobs=Knobs(on_address_change=answer)))  # type: ignore[arg-type]
    told = _job(client, replace(context, address_change=CHANGE))
    reached = str(WORK / "reached")
    assert told["address_change"] == {"after_bytes": 400, "notice": "timeout", "timeout_ns": 7, "reached": reached}
    assert _job(client, context)["address_change"] is None
    if client == "quiche":
        assert (told["migration"], _job(client, context)["migration"]) == ("active", None)
