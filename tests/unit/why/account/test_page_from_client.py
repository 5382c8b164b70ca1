# SPDX-License-Identifier: Apache-2.0
"""A page's load by its client's own files: led back object by object, told as far as they tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.cli.decode import find_logs
from quiclab.cli.main import main
from quiclab.evidence.metrics import Unknown
from quiclab.model.errors import ExitCode
from quiclab.model.tables import TABLES
from quiclab.why.account.one_recording import tables_of
from quiclab.why.account.page_from_client import PageLoad, PagePart, page_load

_PAGE = "https://a.test/"
Tables = dict[str, pl.DataFrame]


def _table(name: str, *rows: dict[str, Any]) -> pl.DataFrame:
    schema = TABLES[name].schema()
    return pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema)


def _request(path: str, sent: float, headers: float, done: float, **more: Any) -> dict[str, Any]:
    """A request with its instants in ms."""
    ms = {key: value for key, value in more.items() if key.endswith("_ns")}
    told = {key: value for key, value in more.items() if key not in ms}
    instants = {"send_start_ns": sent, "headers_ns": headers, "last_byte_ns": done, "queued_ns": sent, **ms}
    at = {key: round(value * 1e6) for key, value in instants.items()}
    return {"source": "log", "url": _PAGE + path, "time_ns": at["queued_ns"], "status": 200, **told, **at}


def _tables(*requests: dict[str, Any], events: tuple[tuple[str, float], ...] = (), kind: str = "har") -> Tables:
    moments = [
        {
            "source": "log",
            "name": name,
            "time_ns": round(ms * 1e6),
            "page": "f",
            "detail": _PAGE if "nav" in name else None,
        }
        for name, ms in events
    ]
    return {
        "sources": _table("sources", {"source": "log", "format": kind, "resolution_ns": 1_000_000}),
        "http_requests": _table("http_requests", *requests),
        "http_frames": _table("http_frames"),
        "page_events": _table("page_events", *moments),
        "decode_stats": _table("decode_stats"),
    }


_DOCUMENT = _request(
    "", 60, 80, 100, queued_ns=10, name_start_ns=12, name_end_ns=15, connect_start_ns=15, connect_end_ns=55,
    resource_type="Document",
)  # fmt: skip
_SCRIPT = _request("s.js", 110, 130, 150, initiator=_PAGE, resource_type="Script")
_IMAGE = _request("i.png", 155, 170, 200, initiator=_PAGE + "s.js", resource_type="Image")
_FETCH = _request("late", 210, 230, 260, initiator=_PAGE + "s.js", resource_type="fetch")
_EVENTS = (("navigationStart", 0.0), ("onLoad", 280.0))


def _steps(load: PageLoad) -> list[tuple[str, float, str]]:
    return [(str(step.part), step.ms, step.url.removeprefix(_PAGE)) for step in load.steps]


def test_a_load_leads_back_to_its_navigation() -> None:
    """Each object is led to by its initiator; the load event does not wait for a fetch."""
    load = page_load(_tables(_DOCUMENT, _SCRIPT, _IMAGE, _FETCH, events=_EVENTS))
    assert _steps(load) == [
        ("browser", 12, ""), ("name", 3, ""), ("handshake", 40, ""), ("browser", 5, ""), ("request", 20, ""),
        ("answer", 20, ""), ("browser", 10, "s.js"), ("request", 20, "s.js"), ("answer", 20, "s.js"),
        ("browser", 5, "i.png"), ("request", 15, "i.png"), ("answer", 30, "i.png"), ("browser", 80, "i.png"),
    ]  # fmt: skip
    assert load.total_ms == sum(load.parts.values()) == 280
    assert (load.last, load.objects, load.captured) == (_PAGE + "i.png", 3, False)


def test_a_tag_in_the_middle_of_an_answer_leads_from_there() -> None:
    """The script asks while it still comes: what of it had come by then is what led on."""
    image = _request("i.png", 140, 170, 200, initiator=_PAGE + "s.js")
    tables = _tables(_DOCUMENT, _SCRIPT | {"connection": "c", "stream_id": 3}, image, events=_EVENTS)
    frames = [
        {"connection": "c", "stream_id": 3, "direction": "down", "frame_type": "data", "time_ns": ms * 10**6}
        for ms in (132, 138, 150)
    ]
    without = page_load(tables)
    assert ("browser", 10, "i.png") in _steps(without)
    load = page_load({**tables, "http_frames": _table("http_frames", *frames)})
    assert ("browser", 2, "i.png") in _steps(load)
    assert load.total_ms == without.total_ms == 280


def test_an_object_in_one_packet_may_be_the_last() -> None:
    """Header and end come at once: nothing of it is arriving."""
    load = page_load(_tables(_DOCUMENT, _request("i.png", 150, 200, 200, initiator=_PAGE), events=_EVENTS))
    assert load.last == _PAGE + "i.png"
    assert _steps(load)[-2:] == [("request", 50, "i.png"), ("browser", 80, "i.png")]


def test_a_netlog_tells_neither_what_led_on_nor_the_load_event() -> None:
    """The last answer ends the account, without the icon that browsers ask for of themselves."""
    rows = (_DOCUMENT | {"content_type": "text/html"}, _SCRIPT, _IMAGE, _request("favicon.ico", 300, 310, 320))
    bare = [{key: value for key, value in row.items() if key not in ("initiator", "resource_type")} for row in rows]
    load = page_load(_tables(*bare, kind="netlog"))
    assert not load.ends_with_load_event
    assert not load.begins_with_navigation
    assert _steps(load)[-3:] == [("not_told", 55, "i.png"), ("request", 15, "i.png"), ("answer", 30, "i.png")]
    assert load.total_ms == 190  # from 10 ms, when the document was asked for
    assert load.parts[PagePart.NOT_TOLD] == 55


def test_a_log_that_is_cut_before_the_load_event_has_no_account() -> None:
    cut = {"decode_stats": _table("decode_stats", {"source": "log", "name": "truncated_log"})}
    with pytest.raises(Unknown, match="cut off"):
        page_load(_tables(_DOCUMENT, _SCRIPT) | cut)
    assert page_load(_tables(_DOCUMENT, _SCRIPT, events=_EVENTS) | cut).ends_with_load_event


@pytest.mark.parametrize("late_ms", [-2.0, 0.0, 5.0])
def test_a_capture_gives_the_instants_of_packets(late_ms: float) -> None:
    """The browser reads later than packets come: its log has that time in its own parts."""
    tables = _tables(_DOCUMENT, _SCRIPT, _IMAGE, events=_EVENTS)
    seen = [
        _request(path, sent + late_ms, headers, done - 1) | {"source": "capture"}
        for path, sent, headers, done in (("", 60, 80, 100), ("s.js", 110, 130, 150), ("i.png", 155, 170, 200))
    ]
    captured = {
        **tables,
        "http_requests": pl.concat([tables["http_requests"], _table("http_requests", *seen)]),
        "sources": pl.concat([tables["sources"], _table("sources", {"source": "capture", "format": "pcapng"})]),
    }
    load = page_load(captured)
    assert load.captured
    assert load.total_ms == sum(load.parts.values()) == 280
    assert _steps(load)[-3:] == [("request", 15 - late_ms, "i.png"), ("answer", 29, "i.png"), ("browser", 81, "i.png")]
    later = captured["http_requests"].with_columns(
        pl.when(pl.col("source") == "capture")
        .then(pl.col("send_start_ns") + 10**9)
        .otherwise("send_start_ns")
        .alias("send_start_ns")
    )
    with pytest.raises(Unknown, match="not of one load"):
        page_load({**captured, "http_requests": later})


def test_what_cannot_carry_a_load_is_refused() -> None:
    """No browser's log, two of them, no answer, another address."""
    tables = _tables(_DOCUMENT, events=_EVENTS)
    with pytest.raises(Unknown, match="no browser's log"):
        page_load({**tables, "sources": _table("sources", {"source": "log", "format": "pcapng"})})
    with pytest.raises(Unknown, match="2 logs of a browser"):
        page_load({**tables, "sources": pl.concat([tables["sources"], tables["sources"]])})
    with pytest.raises(Unknown, match=r"no answered request for /elsewhere: it has https://a\.test/$"):
        page_load(tables, "/elsewhere")
    many = _tables(_DOCUMENT, *(_request(f"{number}.js", 150, 200, 210) for number in range(9)), events=_EVENTS)
    with pytest.raises(Unknown, match=r"/elsewhere: it has https://a\.test/, .*, … \(10 in all\)$"):
        page_load(many, "/elsewhere")


def test_the_command_says_the_same_in_words_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A HAR of two objects: the words name the last one, the document adds up."""
    har = Path(__file__).parents[2] / "cli" / "recordings" / "page.har"
    assert main(["explain", "--page", str(har), "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    for entries in (told["steps"], told["parts"]):
        assert told["total_ms"] == sum(each["time_ms"] for each in entries) == 250
    assert told["last_object"] == _PAGE + "s.js"
    assert told["ends_with_load_event"]
    assert main(["explain", "--page", str(har)]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("https://a.test/ took 250 ms to its load event: ")
    assert "The last of 2 objects to come was /s.js." in words
    assert main(["explain", "--page", str(har), "--stream", "0"]) == ExitCode.SPEC
    assert "--page is one load by itself" in capsys.readouterr().err


def test_what_is_no_page_is_told_as_what_it_is() -> None:
    """The account of a load is not that of one object."""
    with pytest.raises(Unknown, match="no page but Script"):
        page_load(_tables(_DOCUMENT, _SCRIPT, _IMAGE, events=_EVENTS), "/s.js")


def test_other_answers_that_arrive_before_one_are_told() -> None:
    """The last image was asked for at 155 and begins at 190: the other one came from 165 to 185."""
    other = _request("o.png", 155, 165, 185, initiator=_PAGE + "s.js", resource_type="Image")
    last = _request("i.png", 155, 190, 200, initiator=_PAGE + "s.js", resource_type="Image")
    assert page_load(_tables(_DOCUMENT, _SCRIPT, other, last, events=_EVENTS)).beside_ms == 20
    assert page_load(_tables(_DOCUMENT, _SCRIPT, _IMAGE, events=_EVENTS)).beside_ms == 0


@pytest.mark.parametrize(("capture", "is_at_client"), [("h2", True), ("h2-at-server", False)])
def test_a_capture_of_the_servers_end_gives_no_instants_of_the_browser(capture: str, *, is_at_client: bool) -> None:
    """Requests and answers pass it at other times."""
    recordings = Path(__file__).parents[2] / "cli" / "recordings"
    tables = tables_of(find_logs([recordings / f"{capture}.pcapng.gz"], [], [], [recordings / "h2.keys"]))
    seen = tables["http_requests"].row(0, named=True)
    told = {name: seen[name] for name in ("url", "send_start_ns", "headers_ns", "last_byte_ns", "time_ns")}
    document = _table("http_requests", told | {"source": "log", "queued_ns": told["send_start_ns"], "status": 200})
    of_log = _tables()
    both = {
        **tables,
        "sources": pl.concat([of_log["sources"], tables["sources"].select(of_log["sources"].columns)]),
        "http_requests": pl.concat([document, tables["http_requests"].select(document.columns)]),
        "page_events": of_log["page_events"],
    }
    if is_at_client:
        assert page_load(both).captured
    else:
        with pytest.raises(Unknown, match="not taken at the browser's end"):
            page_load(both)
