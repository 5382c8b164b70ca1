# SPDX-License-Identifier: Apache-2.0
"""`quiclab ask` with real programs: a study, three sentences, and the same question again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from by_night import by_night
from small_study import quiclab, trials

from quiclab.cli.documents import AskDocument
from quiclab.model.errors import RAN, ExitCode
from quiclab.study.question import LEAST_PAIRS

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_QUESTION = ("ask", "--size", "10KB", "--rtt", "400ms", "--client", "curl-cffi", "--server", "caddy")


def test_a_question_is_answered_and_can_go_on(tmp_path: Path) -> None:
    """A round trip of the handshake is a third of the time: all pairs have one sign, and the fewest decide. What a busy
    machine spoils is told as not judged, and nothing else is."""
    study = tmp_path / "study"
    done = quiclab(*_QUESTION, "--out", study, "--minutes", "4", timeout=500)
    assert done.returncode in RAN, done.stdout + done.stderr
    told = " ".join(done.stdout.split())
    if "decided" in told:
        assert "h3 is faster than h2: " in told
        assert "Because on average h3 spends" in told
        assert "What would change it" in told
        assert "█" in told
    else:
        assert "Not judged" in told or "Inconclusive" in told
    assert ("Not judged: " in told) <= (done.returncode == 8)
    assert "NOT EQUAL, which can decide the answer in place of the protocol: congestion control: h2 Linux" in told
    assert 'rtt = "400 ms"' in (study / "spec.toml").read_text()
    assert (study / "report.html").exists()
    assert len(trials(study)) >= 2 * LEAST_PAIRS - 2

    other = quiclab("ask", "--size", "20KB", *_QUESTION[3:], "--out", study, timeout=60)
    assert other.returncode == 2
    assert "the spec differs" in other.stderr
    study = study.rename(tmp_path / "renamed")
    again = quiclab(*_QUESTION, "--out", study, "--minutes", "0.2", timeout=300)
    assert again.returncode in RAN, again.stdout + again.stderr


_PAGE = [("", "text/html", 8_000), ("a.js", "text/javascript", 20_000), ("b.png", "image/png", 30_000)]


def _har(folder: Path) -> Path:
    """A page of three files as a browser records it, with a blank in its name."""
    file = folder / "my shop.har"
    entries = [
        {
            "request": {"url": f"https://server/{name}"},
            "response": {"status": 200, "content": {"mimeType": media_type}, "bodySize": size},
            "timings": {"wait": 2},
        }
        for name, media_type, size in _PAGE
    ]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return file


@pytest.mark.parametrize(
    ("words", "workload", "path", "programs"),
    [
        (
            ("--size", "20KB", "--count", "3", "--profile", "cable", "--rate", "10mbit", "--h2", "curl-cffi/caddy",
             "--h3", "quiche/quiche"),
            {"name": "3x20KB", "size": "20 KB", "count": 3},
            {"name": "cable", "title": "Cable, 5/1 Mbit/s, 28 ms, but 10 Mbit/s", "profile": "cable",
             "rate": "10 Mbit/s"},
            ("curl-cffi", "caddy", "quiche", "quiche"),
        ),
        *by_night(
            (
                ("--size", "20KB", "--upload", "--rtt", "20ms", "--server", "nginx", "--client", "curl-cffi"),
                {"name": "20KB-upload", "size": "20 KB", "direction": "upload"},
                {"name": "20ms", "title": "50 Mbit/s, RTT 20 ms", "rate": "50 Mbit/s", "rtt": "20 ms"},
                ("curl-cffi", "nginx", "curl-cffi", "nginx"),
            ),
            (
                ("--page", "my shop.har", "--rtt", "20ms", "--loss", "1%"),
                {"name": "my-shop", "kind": "page"},
                {"name": "20ms", "title": "50 Mbit/s, RTT 20 ms, 1 % loss", "rate": "50 Mbit/s", "rtt": "20 ms",
                 "loss": "1 %"},
                None,
            ),
        ),
    ],
)  # fmt: skip
def test_each_option_is_in_the_spec_and_runs(
    tmp_path: Path,
    words: tuple[str, ...],
    workload: dict[str, object],
    path: dict[str, object],
    programs: tuple[str, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trials transfer what was asked for, and `--json` has the answer as one document, disturbed or not."""
    _har(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = quiclab("ask", *words, "--minutes", "0.4", "--out", "study", "--json", timeout=500)
    if programs is not None and "are here" in done.stderr and done.returncode == ExitCode.HOST:
        pytest.skip(done.stderr)
    assert done.returncode in RAN, done.stderr
    spec = tomllib.loads((tmp_path / "study" / "spec.toml").read_text())
    assert workload.items() <= spec["workload"][0].items()
    assert spec["path"] == [path]
    found = [arm[role] if isinstance(arm[role], str) else arm[role]["name"] for arm in spec["arm"]
             for role in ("client", "server")]  # fmt: skip
    assert programs is None or tuple(found) == programs
    document = json.loads(done.stdout)
    assert document.keys() == set(AskDocument.__dataclass_fields__)
    assert document["exit_code"] == done.returncode
    assert document["question"] in done.stderr
    assert document["arms"].keys() == {"h2", "h3"}
    assert document["answer"][0].partition("`")[0] in " ".join(done.stderr.split())
    assert document["go_on"] == "quiclab run study --until 2%"
    counts = document["trials"]
    assert counts["failed"] == counts["unproven"] == 0, done.stderr
    assert counts["verified"] + counts["void"] + counts["not_run"] == counts["planned"] >= 2 * LEAST_PAIRS
