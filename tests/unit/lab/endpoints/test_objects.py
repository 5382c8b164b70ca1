# SPDX-License-Identifier: Apache-2.0
"""Several objects: who is refused when the plan is made, and what the others are told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from contexts import CONTEXT

from quiclab.lab.endpoints import find, objections
from quiclab.model.study import Arm, Knobs, Program, Tcp, Workload
from quiclab.model.units import ByteCount

SEVERAL = Workload("many", ByteCount(1000), count=120)
ARM = Arm("x", "h3", Program("curl-cffi"), Program("caddy"), Tcp("reno"))
CONTEXT_OF_THREE = replace(CONTEXT, object_name="x~1", other_objects=("x~2", "x~3"), concurrency=2)
URLS = [f"https://server.test/x~{number}" for number in (1, 2, 3)]


@pytest.mark.parametrize("client", ["wget2", "chromium", "command"])
def test_who_cannot_is_refused_with_who_can(client: str) -> None:
    """One object is no matter."""
    program = Program(client, argv=("x",)) if client == "command" else Program(client)
    arm = replace(ARM, client=program, protocol="h2")
    assert objections(arm, [Workload("one", ByteCount(1000))]) == []
    (told,) = objections(arm, [SEVERAL])
    assert told.startswith(f"the client {client} cannot fetch the 120 objects of many on one connection: unsupported; ")
    assert "curl-cffi" in told
    assert "aioquic" not in told, "it speaks no h2"


def test_ngtcp2_asks_for_all_at_once() -> None:
    """Another concurrency it cannot be told."""
    arm = replace(ARM, client=Program("ngtcp2"))
    assert objections(arm, [SEVERAL]) == []
    (told,) = objections(arm, [replace(SEVERAL, concurrency=2)])
    assert "concurrency = 2 is not possible" in told


def test_curl_has_a_bound_of_its_own() -> None:
    """More than 100 at once it would fetch on a second connection."""
    arm = replace(ARM, client=Program("curl"))
    (told,) = objections(arm, [SEVERAL])
    assert "at most 100 objects at once" in told
    assert objections(arm, [replace(SEVERAL, concurrency=100)]) == []
    assert objections(ARM, [SEVERAL]) == []


def test_http_1_has_one_at_a_time() -> None:
    """Several at once would take several connections."""
    arm = replace(ARM, protocol="h1", client=Program("curl"))
    (told,) = objections(arm, [SEVERAL])
    assert told.endswith("many asks for several at once: unsupported; give it concurrency = 1")
    assert objections(arm, [replace(SEVERAL, concurrency=1)]) == []


@pytest.mark.parametrize(
    ("client", "knobs"),
    [
        ("quiche", Knobs(session="early_data")),
        ("quic-go", Knobs(migration="active")),
        ("quic-go", Knobs(session="early_data", migration="rebinding")),
    ],
)
def test_what_goes_with_one_object_only(client: str, knobs: Knobs) -> None:
    """The reason names the knob."""
    (told,) = objections(replace(ARM, client=Program(client, knobs=knobs)), [SEVERAL])
    assert f"the client {client} cannot fetch several objects with" in told
    assert str(knobs.migration or knobs.session) in told
    early = Program("quic-go", knobs=Knobs(session="early_data"))
    assert objections(replace(ARM, client=early), [SEVERAL]) == []


@pytest.mark.parametrize("client", ["curl-cffi", "aioquic", "quic-go", "quinn", "quiche"])
def test_programs_of_ours_get_all_urls_in_order(client: str) -> None:
    """With the number of those that may be under way; of a single object there are no others."""

    def job(context: object) -> dict[str, object]:
        (text,) = find("client", client).command(context).files.values()  # type: ignore[arg-type]
        return dict(json.loads(text))

    told = job(CONTEXT_OF_THREE)
    assert [told["url"], *told["other_urls"]] == URLS  # type: ignore[misc]
    assert told["concurrency"] == 2
    assert not job(CONTEXT)["other_urls"]


def test_curl_gets_a_file_for_each() -> None:
    """Bodies that come at the same time must not share a pipe."""
    command = find("client", "curl").command(CONTEXT_OF_THREE)
    job = next(json.loads(text) for path, text in command.files.items() if path.suffix == ".json")
    argv = job["argv"]
    assert argv[argv.index("--parallel-max") + 1] == "2"
    assert "--parallel-immediate" not in argv
    assert [argv[place + 2] for place, word in enumerate(argv) if word == "--output"] == job["urls"] == URLS
    assert len(set(job["bodies"])) == 3
