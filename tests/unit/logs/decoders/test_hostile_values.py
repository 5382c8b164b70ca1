# SPDX-License-Identifier: Apache-2.0
"""Logs with values of the wrong kind in every place: rows that are missing for it have a reason that was counted."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.logs.decoders import test_hostile

from quiclab.logs.decoders import DECODERS, Context
from quiclab.logs.decoders.log_files import decoder_of
from quiclab.model.errors import DecodeError

PLACES = 250
"""Mutations of each log: places and values are drawn with a fixed seed."""
VALUES: tuple[str, ...] = (
    *("null", "true", '"text"', '""', "[]", "{}", "-1", "0", "1e999", "-1e999", "NaN", "Infinity", "0.5"),
    *("1000000000000000000", "-1000000000000000000", "18446744073709551616", "1e18", '"1e18"', "[[1]]", '{"a":{}}'),
    *("[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, '"' + "x" * 5000 + '"', '"\\ud800"'),
)
_HOLE = "\x00hole\x00"


def _qlog() -> list[Any]:
    made = writers.Qlog("server")
    frames = [writers.stream(0, 500, fin=True), writers.ack((1, 2)), {"frame_type": "max_data", "maximum": 9}]
    made.packet("sent", 1.5, 1, 600, frames)
    made.packet("received", 2.5, 1, 40, [{"frame_type": "reset_stream", "stream_id": 4, "final_size": 7}])
    for name, data in {
        "recovery:metrics_updated": {"congestion_window": 9000, "smoothed_rtt": 2.5, "pto_count": 1},
        "quic:connection_data_blocked_updated": {"old": "unblocked", "new": "blocked", "reason": "pacing"},
        "quic:timer_updated": {"timer_type": "pto", "event_type": "set", "delta": 5},
        "quic:parameters_set": {"initiator": "local", "initial_max_data": 5, "unknown_parameters": [{"id": 77}]},
        "http3:frame_parsed": {"stream_id": 0, "frame": {"frame_type": "data", "raw": {"payload_length": 5}}},
    }.items():
        made.records.append({"time": 3, "name": name, "data": data})
    return [json.loads(record) for record in made.bytes().split(b"\x1e")[1:]]


def _lines(records: list[Any]) -> Callable[[Any], str]:
    def write(changed: Any) -> str:
        return "".join(f"\x1e{json.dumps(each)}\n" for each in changed)

    assert records
    return write


def _each_in_a_line(changed: Any) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in changed)


DOCUMENTS: dict[str, tuple[Any, Callable[[Any], str]]] = {
    "har": (json.loads(test_hostile.archive()), json.dumps),
    "netlog": (
        json.loads(gzip.decompress((test_hostile.GOLDENS / "netlog/chromium-h2-padded.json.gz").read_bytes())),
        json.dumps,
    ),
    "player": (test_hostile.PLAYER, json.dumps),
    "process_cost": (json.loads(test_hostile.COST), lambda changed: json.dumps(changed) + "\n"),
    "qlog": (_qlog(), _lines(_qlog())),
    "run_delay": ([{"run_delay": 1}, test_hostile.WAITED], _each_in_a_line),
    "trace_events": (
        [
            {"name": "navigationStart", "cat": "blink.user_timing", "ph": "R", "ts": 5, "pid": 1, "tid": 1, "args": {}},
            {"name": "LayoutShift", "cat": "l", "ph": "I", "ts": 6.5, "dur": 1, "args": {"data": {"score": 0.5}}},
            {"name": "ResourceSendRequest", "cat": "d", "ph": "I", "ts": 7, "args": {"data": {"requestId": "1.2"}}},
            {
                "name": "ResourceFinish", "cat": "d", "ph": "I", "ts": 9,
                "args": {"data": {"requestId": "1.2", "finishTime": 0.5, "encodedDataLength": 9}},
            },
        ],
        json.dumps,
    ),
    "trial": (test_hostile.TRIAL, json.dumps),
    "udp_drops": ([{"udp_drops": 1}, test_hostile.DROPPED], _each_in_a_line),
}  # fmt: skip
TEXTS = {
    "mahimahi_log": test_hostile.SAMPLES["mahimahi_log"][0].decode(),
    "mahimahi_trace": test_hostile.SAMPLES["mahimahi_trace"][0].decode(),
    "ss": test_hostile.SAMPLES["ss"][0].decode()[:2000],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, but the whole of it."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*path, key))


def changed(document: Any, path: tuple[Any, ...], *, twice: bool) -> Any:
    """A copy with a hole at a place, for what JSON cannot hold; `twice`: beside what stands there, by the same name."""
    copy = json.loads(json.dumps(document))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    if twice and isinstance(parent, dict):
        parent[_HOLE + path[-1]] = _HOLE
    else:
        parent[path[-1]] = _HOLE
    return copy


def kind(value: Any) -> str:
    """What JSON calls it."""
    if isinstance(value, bool):
        return "boolean"
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float)}
    return next((name for name, types in kinds.items() if isinstance(value, types)), "null")


def kind_of_text(text: str) -> str:
    """The same of what is to stand there; what Python alone takes for a number is none."""
    starts = {"{": "object", "[": "array", '"': "string", "t": "boolean", "n": "null", "N": "none", "I": "none"}
    return starts.get(text[0], "number")


def at(document: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a place."""
    for key in path:
        document = document[key]
    return document


def mutations(name: str) -> Iterator[tuple[str, str, bool]]:
    """What was changed, the log, and whether another kind of value stands there now, which no log means."""
    rng = random.Random(19)
    if name in TEXTS:
        numbers = list(re.finditer(r"\d+(?:\.\d+)?", TEXTS[name]))
        for _ in range(PLACES):
            number, value = rng.choice(numbers), rng.choice([each for each in VALUES if len(each) < 100])
            yield f"{number[0]} → {value}", TEXTS[name][: number.start()] + value + TEXTS[name][number.end() :], False
        return
    document, write = DOCUMENTS[name]
    known = list(places(document))
    hole = json.dumps(_HOLE)
    for _ in range(PLACES):
        path, value, twice = rng.choice(known), rng.choice(VALUES), rng.random() < 0.2
        text = write(changed(document, path, twice=twice)).replace(hole[:-1] + str(path[-1]), f'"{path[-1]}', 1)
        # null is how a log says that there is none.
        is_other = kind_of_text(value) not in ("null", kind(at(document, path)))
        # Some converters end a qlog with an empty event.
        is_other &= not (name == "qlog" and len(path) == 1 and value == "[]")
        yield f"{path} → {value:.20}{' too' if twice else ''}", text.replace(hole, value), is_other


@pytest.mark.parametrize("name", [*DOCUMENTS, *TEXTS])
def test_what_is_missing_has_a_reason(name: str, tmp_path: Path) -> None:
    """No crash, whatever stands anywhere; where another kind of value costs rows, the file is refused or says so."""
    path = tmp_path / "log"
    context = Context(vantage="client", realtime_minus_monotonic_ns=3)
    document, write = DOCUMENTS.get(name, (TEXTS.get(name), str))
    path.write_text(write(document))
    decoder = decoder_of(path)
    assert decoder is not None
    assert decoder.format == name
    before = decoder.decode(path, context)
    rows, told = _rows(before.tables), _told(before.findings)
    assert rows
    silent = []
    for what, text, is_other in mutations(name):
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            after = decoder.decode(path, context)
        except DecodeError:
            continue
        if (
            is_other
            and any(_rows(after.tables).get(table, 0) < count for table, count in rows.items())
            and not (_told(after.findings) - told)
        ):
            silent.append(what)
    assert not silent


def test_every_log_that_is_text_is_here() -> None:
    """Binary formats are damaged byte by byte, in `test_hostile`."""
    binary = {"packet_log", "pcap", "pcapng", "tcp_info"}
    assert {decoder.format for decoder in DECODERS} == {*DOCUMENTS, *TEXTS} | binary


def _rows(tables: dict[str, Any]) -> dict[str, int]:
    return {name: table.height for name, table in tables.items()}


def _told(findings: Any) -> set[tuple[str, int]]:
    return {(each.name, each.count) for each in findings}
