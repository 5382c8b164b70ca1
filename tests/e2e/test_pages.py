# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser, from real servers, over the emulated link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from account_facts import facts
from by_night import by_night
from small_study import main_only, quiclab, trials
from stack_study import need, spec_text

from quiclab.logs.decoders import find
from quiclab.store.layout import StudyDir
from quiclab.study.tables import make_tables
from quiclab.why.account.one_recording import tables_of
from quiclab.why.account.page_from_client import PagePart, page_load

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = """kind = "page"
page = {{ {} }}"""
_MADE = """html = "4 KB", resources = [{type = "style", size = "5 KB"}, {type = "script", size = "3 KB"},
  {type = "image", size = "60 KB", main = true}, {type = "image", size = "9 KB", format = "jpeg", count = 6,
  third_party = "50 %"}, {type = "data", size = "2 KB"}], others_protocol = "h1" """
_SERVERS = ("caddy", "nginx")
"""For H2, for H3."""


def _arms(servers: tuple[str, str], client: str) -> dict[str, str]:
    return {
        f"{server}-{protocol}": f'protocol = "{protocol}"\nclient = "{client}"\nserver = "{server}"'
        for server, protocol in zip(servers, ("h2", "h3"), strict=True)
    }


def _run(
    folder: Path, page: str, limit: str = "30 s", servers: tuple[str, str] = _SERVERS, client: str = "chromium"
) -> tuple[Path, dict[str, dict[str, Any]]]:
    need(("client", client), *(("server", server) for server in servers))
    spec = folder / "spec.toml"
    text = spec_text(_arms(servers, client), None, workload=_PAGE.format(page.replace("\n", " ")))
    spec.write_text(text.replace('trial = "30 s"', f'trial = "{limit}"'))
    done = quiclab("run", main_only(spec), "--out", folder / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    kept = trials(folder / "study")
    return folder / "study", {trial["row"]["arm"]: trial for trial in kept if trial["status"] != "void"}


_FRAME_MS = 17
"""Between two pictures of a screen that shows sixty a second."""


def test_a_page_of_two_hosts(tmp_path: Path) -> None:
    """Everything comes to the byte, each host by its own protocol; the browser's own moments become metrics, and the
    account of the page adds up to its load time."""
    study, found = _run(tmp_path, _MADE)
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        requests = trial["client"]["requests"]
        assert len(requests) == 11
        assert sum(request["body_bytes"] for request in requests) == 4_000 + 5_000 + 3_000 + 60_000 + 6 * 9_000 + 2_000
        versions = {request["url"].split("/")[2]: request["http_version"] for request in requests}
        own = "HTTP/3" if trial["protocol"] == "h3" else "HTTP/2"
        assert versions == {"server.test": own, "third-1.test": "HTTP/1.1"}
        raw = next(study.glob(f"*/{trial['trial_id']}/raw"), None) or next(study.glob(f"*/{trial['trial_id']}*/raw"))
        assert (raw / "client-page.jpg").stat().st_size > 1000
        metrics = pl.read_parquet(study / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        value = dict(metrics.select("name", "value").iter_rows())
        assert value["page_requests"] == 11
        # A picture has the time at which it was drawn, and that paint the one at which it was shown.
        assert 0 < value["fcp_ms"] <= value["last_visual_change_ms"] + _FRAME_MS
        assert 0 < value["main_image_start_ms"] < value["main_image_end_ms"] <= value["plt_ms"]
        assert 0 < value["speed_index_ms"] <= value["last_visual_change_ms"]
        assert value["critical_path_requests"] >= 2
        assert value["page_bytes_h3_pct"] == (0 if own == "HTTP/2" else pytest.approx(100 * 101 / 128, abs=0.1))
        account = pl.read_parquet(study / "tables" / "account" / f"{trial['trial_id']}.parquet")
        assert account.select(pl.col("until_ns") - pl.col("from_ns")).sum().item() == round(value["plt_ms"] * 1e6)
        assert account.row(-1, named=True)["evidence"] == "page_events"
        assert {"browser", "request", "link_busy", "last_flight"} <= set(account["why"])
        _check_by_client_alone(raw, value["plt_ms"], account)
    make_tables(StudyDir(study))
    assert facts(study).untrue == []


def _check_by_client_alone(raw: Path, plt_ms: float, account: pl.DataFrame) -> None:
    """The client's own files tell of the same load: as long, and with the same object at its end."""
    files = [raw / name for name in ("client-trace.json.gz", "client.pcapng", "keys.log")]
    load = page_load(tables_of(find((file, file.name) for file in files)))
    assert load.captured
    assert load.ends_with_load_event
    lookup_ms = load.parts[PagePart.NAME]
    assert load.total_ms == pytest.approx(sum(load.parts.values()))
    assert load.total_ms - lookup_ms == pytest.approx(plt_ms, abs=0.5)
    assert load.last == account["object"].drop_nulls()[-1]
    own = account.filter(pl.col("why").is_in(["browser", "processor"]))
    browser_ms = own.select((pl.col("until_ns") - pl.col("from_ns")).sum()).item() / 1e6
    assert load.parts[PagePart.BROWSER] < browser_ms + 0.1 * plt_ms


_RECORDED = (
    ("https://www.shop.example/start", "text/html", 6_000, "h3", 300),
    ("https://www.shop.example/a.css", "text/css", 4_000, "h3", -1),
    ("https://cdn.example/main.jpg?w=1", "image/jpeg", 50_000, "h2", 150.5),
    ("https://cdn.example/app.js", "text/javascript", 9_000, "h2", 0),
    ("https://pixel.example/p", "image/png", 1_500, "http/1.1", 80),
    ("https://fonts.example/f", "font/woff2", 12_000, "h3", 40),
)


def _har(file: Path) -> None:
    """A recorded load of four hosts, without a body."""
    entries = [
        {
            "pageref": "page_1",
            "startedDateTime": f"2026-01-01T00:00:0{number}Z",
            "request": {"url": url, "method": "GET"},
            "response": {
                "status": 200,
                "httpVersion": version,
                "bodySize": size,
                "content": {"mimeType": media_type, "size": size},
            },
            "timings": {"send": 0, "wait": wait, "receive": 1},
        }
        for number, (url, media_type, size, version, wait) in enumerate(_RECORDED)
    ]
    file.write_text(json.dumps({"log": {"version": "1.2", "pages": [{"id": "page_1"}], "entries": entries}}))


@pytest.mark.nightly
def test_a_recorded_load_is_replayed(tmp_path: Path) -> None:
    """Each host at an address of its own and with its own protocol; types and sizes as recorded, without bodies; no
    answer comes before the server has thought as long as it did."""
    _har(tmp_path / "shop.har")
    study, found = _run(tmp_path, 'har = "shop.har"', servers=("caddy", "caddy"))
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        highest = "HTTP/3" if trial["protocol"] == "h3" else "HTTP/2"
        requests = trial["client"]["requests"]
        assert {(each["url"].split("/")[2], each["http_version"]) for each in requests} == {
            ("www.shop.example", highest),
            ("fonts.example", highest),
            ("cdn.example", "HTTP/2"),
            ("pixel.example", "HTTP/1.1"),
        }
        recorded = {size: (media_type, wait) for _, media_type, size, _, wait in _RECORDED}
        assert {each["body_bytes"] for each in requests} == set(recorded)
        for each in requests:
            assert each["first_byte_ns"] - each["sent_ns"] > recorded[each["body_bytes"]][1] * 1e6
        shown = pl.read_parquet(study / "tables" / "http_requests" / f"{trial['trial_id']}.parquet").filter(
            pl.col("source").str.contains("trace"), pl.col("url").str.starts_with("http")
        )
        types = dict(shown.select("response_decoded_bytes", "content_type").iter_rows())
        assert types == {size: media_type for size, (media_type, _) in recorded.items()}
        # Over HTTP/2 some releases of Chromium count the 9 bytes of each frame's header (RFC 9113 section 4.1).
        framing = shown["response_body_bytes"] - shown["response_decoded_bytes"]
        assert framing.filter(shown["http_version"] != "HTTP/2").unique().to_list() == [0]
        assert {each % 9 for each in framing} == {0}
        packets = pl.read_parquet(study / "tables" / "ip_packets" / f"{trial['trial_id']}.parquet")
        assert packets["dst"].n_unique() == 1 + 4
        # Every object waits for the document, whose server thinks for 300 ms, many round trips.
        account = pl.read_parquet(study / "tables" / "account" / f"{trial['trial_id']}.parquet")
        thinks = account.filter(pl.col("what") == "server", pl.col("why").is_in(["request", "processor"]))
        assert thinks.select(pl.col("until_ns") - pl.col("from_ns")).sum().item() > 299e6


def test_servers_that_cannot_think_are_refused(tmp_path: Path) -> None:
    """When the plan is made, with what can."""
    _har(tmp_path / "shop.har")
    spec = tmp_path / "spec.toml"
    page = _PAGE.format('har = "shop.har"')
    spec.write_text(spec_text(_arms(_SERVERS, "chromium"), None, workload=page))
    done = quiclab("run", spec, "--out", tmp_path / "study")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "the server nginx cannot wait before it answers" in told
    assert 'caddy can, or write think = "none"' in told


@pytest.mark.nightly
def test_firefox_loads_a_page_of_two_hosts(tmp_path: Path) -> None:
    """Everything to the byte and by each host's own protocol, also in its HAR; what Firefox cannot tell is said."""
    study, found = _run(tmp_path, _MADE, client="firefox")
    assert found
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        assert trial["client"]["browser"]["page_kept_its_process"]
        own = "HTTP/3" if trial["protocol"] == "h3" else "HTTP/2"
        shown = pl.read_parquet(study / "tables" / "http_requests" / f"{trial['trial_id']}.parquet").filter(
            pl.col("source") == "raw/client-page.har"
        )
        assert shown["response_body_bytes"].sum() == 4_000 + 5_000 + 3_000 + 60_000 + 6 * 9_000 + 2_000
        versions = {(url.split("/")[2], version) for url, version in shown.select("url", "http_version").iter_rows()}
        assert versions == {("server.test", own), ("third-1.test", "HTTP/1.1")}
        assert set(shown["resource_type"]) == {"Document", "Stylesheet", "Script", "Image", "Fetch"}
        metrics = pl.read_parquet(study / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        value, note = (dict(metrics.select("name", column).iter_rows()) for column in ("value", "note"))
        assert value["page_requests"] == 11
        assert 0 < value["page_ttfb_ms"] < value["fcp_ms"] <= value["lcp_ms"]
        assert value["page_ttfb_ms"] < value["main_image_start_ms"] < value["main_image_end_ms"] <= value["plt_ms"]
        assert value["speed_index_ms"] is None
        assert note["speed_index_ms"] == "the browser made no screenshots of the load"
    assert len(list(study.glob("tables/har/*.har"))) >= len(found)


@pytest.mark.parametrize("client", ["chromium", *by_night("firefox")])
def test_a_mirrored_page_that_lacks_files_and_reaches_out(tmp_path: Path, client: str) -> None:
    """The load goes on; files of the machine and hosts outside stay out of reach."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(
        "<!doctype html><title>t</title><link rel=preconnect href=https://outside.example>"
        "<link rel=stylesheet href=file:///etc/hostname><p>text<img src=/gone.png><img src=file:///etc/passwd>"
        "<img src=https://outside.example/x.png><iframe src=https://203.0.113.9/></iframe>"
        "<script>for (const to of ['file:///etc/passwd', 'https://outside.example/', 'https://203.0.113.9/'])"
        " fetch(to).catch(() => null); new WebSocket('wss://203.0.113.9/');"
        " const call = new RTCPeerConnection({iceServers: [{urls: 'stun:203.0.113.9'}]}); call.createDataChannel('x');"
        " call.createOffer().then((offer) => call.setLocalDescription(offer))</script>"
    )
    study, found = _run(tmp_path, 'folder = "site"', client=client)
    assert found
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        statuses = {request["url"]: request["status"] for request in trial["client"]["requests"]}
        assert statuses["https://server.test/gone.png"] == 404
        assert statuses.get("https://outside.example/x.png") is None
        outside = [each for each in trial["client"]["requests"] if "server.test" not in each["url"]]
        assert not any(each["decoded_bytes"] or each["first_byte_ns"] for each in outside), outside
        metrics = pl.read_parquet(study / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
        assert metrics.filter(pl.col("name") == "page_failed_requests")["value"][0] >= 2
        packets = pl.read_parquet(study / "tables" / "ip_packets" / f"{trial['trial_id']}.parquet")
        assert set(packets["dst"].drop_nulls()) <= {"10.77.0.1", "10.77.0.2"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("page", "document"),
    [
        pytest.param('resources = [{type = "image", size = "2 MB", count = 10}]', None, id="too much"),
        pytest.param(
            'folder = "site"',
            "<!doctype html><title>t</title><p>text<script>for (;;);</script>",
            id="caught in a script",
            marks=pytest.mark.matrix,
        ),
    ],
)
def test_a_page_that_never_fires_load_ends_by_its_limit(tmp_path: Path, page: str, document: str | None) -> None:
    """With the reason, and with its logs."""
    if document is not None:
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "index.html").write_text(document)
    study, found = _run(tmp_path, page, limit="2 s")
    assert found
    for trial in found.values():
        assert trial["status"] == "failed"
        assert "load event did not fire within 2 s (limits.trial)" in trial["reason"], trial["reason"]
    assert list(study.rglob("client-trace.json*"))
