# SPDX-License-Identifier: Apache-2.0
"""Pages: to the byte, the same for the same seed, and of images that decode."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from by_night import by_night
from PIL import Image
from specs import changed, study_of

from quiclab.lab.workloads import Site, build_site
from quiclab.lab.workloads._images import make_image
from quiclab.model.errors import SpecError
from quiclab.model.page import Mix, Page, Resources, ThirdParties
from quiclab.model.study import Workload
from quiclab.model.units import ByteCount, Share

PUBLISHED = Page(
    html=ByteCount(7_000),
    resources=(Resources("style", ByteCount(40_000)), Resources("image", ByteCount(29_000), count=70)),
)


def _site(page: Page, seed: int = 1) -> Site:
    return build_site(Workload("page", kind="page", page=page), seed)


def test_the_published_page_to_the_byte() -> None:
    """Benoit and Holland's: 72 requests, 70 images of 29.0 KB, 2,077 KB in total."""
    site = _site(PUBLISHED)
    assert len(site.files) == len(site.manifest["resources"]) == 72
    assert sum(map(len, site.files.values())) == 2_077_000 == PUBLISHED.size.bytes
    assert {resource["bytes"] for resource in site.manifest["resources"] if resource["type"] == "image"} == {29_000}
    assert all(name in site.files["index.html"].decode() for name in site.files if name != "index.html")


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("size", [1024, 1025, 1039, 5001, 29_000, 65_600, 200_003])
def test_images_have_their_size_and_decode(kind: str, size: int) -> None:
    """Whatever the size leaves over for padding."""
    content = make_image(kind, size, "seed")
    assert len(content) == size
    with Image.open(io.BytesIO(content)) as image:
        image.load()
        assert image.format == kind.upper()


@pytest.mark.parametrize("mix", ["many-small", "http-archive", *by_night("few-large", "mixed")])
def test_mixes_hold_to_requests_and_bytes(mix: Mix) -> None:
    """And draw other sizes for another seed."""
    page = Page(mix=mix, requests=40, total=ByteCount(900_000))
    site = _site(page)
    assert len(site.files) == 40
    assert sum(map(len, site.files.values())) == 900_000
    assert site == _site(page)
    assert site.files != _site(page, 2).files
    assert site.manifest["main_image"] in {resource["url"] for resource in site.manifest["resources"]}


def test_third_parties_have_hosts_of_their_own() -> None:
    """Half of the images, spread over two hosts that speak no HTTP/3."""
    images = Resources("image", ByteCount(2_000), count=8, third_party=Share(0.5))
    site = _site(Page(resources=(images,), hosts=2, others_protocol="h2"))
    assert [(host.name, host.highest) for host in site.hosts] == [
        ("server.test", "h3"),
        ("third-1.test", "h2"),
        ("third-2.test", "h2"),
    ]
    by_host = [resource["host"] for resource in site.manifest["resources"] if resource["type"] == "image"]
    assert sorted(by_host) == ["server.test"] * 4 + ["third-1.test"] * 2 + ["third-2.test"] * 2


def test_third_parties_of_a_mix_by_type() -> None:
    """Each type has its own share."""
    shares = ThirdParties(script=Share(0.5), image=Share(1.0))
    site = _site(Page(mix="mixed", requests=51, total=ByteCount(900_000), third_party=shares, hosts=3))
    by_type: dict[str, list[bool]] = {}
    for each in site.manifest["resources"][1:]:
        by_type.setdefault(each["type"], []).append(each["host"] != "server.test")
    assert {kind: (sum(others), len(others)) for kind, others in by_type.items()} == {
        "style": (0, 3),
        "script": (6, 11),
        "image": (33, 33),
        "font": (0, 3),
    }
    assert len(site.hosts) == 4


def test_pages_at_percentiles_of_the_http_archive(tmp_path: Path) -> None:
    """The published counts and bytes of each type; the requests of the whole page are the published ones, too."""
    seen = {}
    for percentile in (10, 50, 60, 90):
        text = changed(
            ('size = "100 KB"', f'kind = "page"\npage = {{mix = "http-archive", percentile = {percentile}}}')
        )
        site = build_site(study_of(tmp_path, text).workloads[0], 1)
        by_type = {each["type"]: (0, 0) for each in site.manifest["resources"]}
        for each in site.manifest["resources"]:
            count, size = by_type[each["type"]]
            by_type[each["type"]] = count + 1, size + each["bytes"]
        seen[percentile] = by_type
    counts = [{kind: count for kind, (count, _) in each.items()} for each in seen.values()]
    assert [sum(each.values()) for each in counts] == [24, 71, 86, 176]
    assert counts[1] == {"document": 1, "style": 8, "script": 24, "image": 18, "font": 4, "data": 16}
    images = [seen[percentile]["image"][1] for percentile in (10, 50, 90)]
    assert images == pytest.approx([84_000, 1_054_000, 6_526_000], rel=1e-3)
    assert seen[50]["script"][1] < seen[60]["script"][1] < 1_172_000


def test_a_document_that_cannot_name_everything_is_refused() -> None:
    """With the size that it needs."""
    with pytest.raises(SpecError, match=r"a document of 600 bytes cannot name 70 resources: write html = \d+ B"):
        _site(Page(html=ByteCount(600), resources=(Resources("image", ByteCount(2_000), count=70),)))


def test_a_mirrored_folder_is_served_as_it_is(tmp_path: Path) -> None:
    """What it asks for only the browser can tell."""
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "a.png").write_bytes(b"x")
    (tmp_path / "start.html").write_text("<img src=/img/a.png>")
    site = _site(Page(folder=str(tmp_path), document="start.html"))
    assert site.files == {"img/a.png": b"x", "start.html": b"<img src=/img/a.png>"}
    assert site.requests == ("start.html",)
    assert [resource["url"] for resource in site.manifest["resources"]] == ["https://server.test/start.html"]


def _entry(url: str, media_type: str, size: int, version: str, status: int = 200) -> dict[str, object]:
    content = {"mimeType": media_type, "size": size}
    response = {"status": status, "httpVersion": version, "content": content, "bodySize": -1}
    return {"pageref": "p", "request": {"url": url}, "response": response}


def test_a_recorded_load_without_bodies(tmp_path: Path) -> None:
    """Hosts, types and sizes are those of the HAR; what got no answer is left out; versions are the hosts' own."""
    entries = [
        _entry("https://www.example/", "text/html", 9_000, "h3"),
        _entry("https://www.example/", "text/html", 9_000, "h3"),
        _entry("https://cdn.example/a.jpg?x=1", "image/jpeg", 30_000, "h2"),
        _entry("https://cdn.example/a.js", "text/javascript", 7_000, "h2"),
        _entry("https://old.example/i", "image/gif", 35, "http/1.1"),
        _entry("https://gone.example/", "text/css", 500, "h2", 404),
        _entry("data:image/png;base64,xx", "image/png", 10, ""),
    ]
    (tmp_path / "x.har").write_text(json.dumps({"log": {"pages": [{"id": "p"}], "entries": entries}}))
    site = _site(Page(har=str(tmp_path / "x.har")))
    assert [(host.name, host.highest) for host in site.hosts] == [
        ("www.example", "h3"),
        ("cdn.example", "h2"),
        ("old.example", "h1"),
    ]
    assert [(each["type"], each["bytes"]) for each in site.manifest["resources"]] == [
        ("document", 9_000),
        ("image", 30_000),
        ("script", 7_000),
        ("image", 128),
    ]


def test_servers_think_as_long_as_recorded(tmp_path: Path) -> None:
    """Unless they are told not to; what the recording does not tell is no wait."""
    entries = [
        _entry("https://www.example/", "text/html", 9_000, "h3") | {"timings": {"wait": 120.5}},
        _entry("https://www.example/a.js", "text/javascript", 7_000, "h3") | {"timings": {"wait": -1}},
        _entry("https://www.example/b.js", "text/javascript", 7_000, "h3"),
        _entry("https://www.example/c.js", "text/javascript", 7_000, "h3") | {"timings": {"wait": 3}},
    ]
    (tmp_path / "x.har").write_text(json.dumps({"log": {"pages": [{"id": "p"}], "entries": entries}}))
    page = Page(har=str(tmp_path / "x.har"))
    assert _site(page).waits == {"index.html": 120_500_000, "script-3.js": 3_000_000}
    assert _site(replace(page, think="none")).waits == {}


def test_what_is_no_har(tmp_path: Path) -> None:
    """One sentence, and what to do."""
    (tmp_path / "x.har").write_text("[]")
    with pytest.raises(SpecError, match="is no HAR"):
        _site(Page(har=str(tmp_path / "x.har")))


def test_the_main_image_stands_where_it_is_told_and_is_marked_as_important() -> None:
    """The others keep their order before and after it."""
    main = Resources("image", ByteCount(4_000), main=True, fetch_priority="high")
    page = Page(resources=(main, Resources("image", ByteCount(2_000), count=3)), main_at=3)
    text = _site(page).files["index.html"].decode()
    order = [line.split('"')[-2] for line in text.splitlines() if line.startswith("<img")]
    assert [url.rpartition("/")[2] for url in order] == ["image-2.png", "image-3.png", "image-1.png", "image-4.png"]
    assert text.count("fetchpriority") == text.count("<img id=main fetchpriority=high") == 1
