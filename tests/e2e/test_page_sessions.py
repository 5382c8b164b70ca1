# SPDX-License-Identifier: Apache-2.0
"""A page in a browser that has been there before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import quiclab, trials, with_plain_logs
from stack_study import need, spec_text

from quiclab.evidence.metrics.sessions import beginning
from quiclab.evidence.verify.proof import UNPROVEN

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = 'kind = "page"\npage = { html = "4 KB", resources = [{type = "image", size = "20 KB", count = 3}] }'
_ARMS = {
    "fresh": 'protocol = "h3"\nclient = {name = "chromium", session = "fresh"}\nserver = "caddy"',
    "zero": 'protocol = "h3"\nclient = {name = "chromium", session = "early_data"}\nserver = "caddy"',
}
_KEPT = 'protocol = "h3"\nclient = {{name = "chromium", session = "early_data", http_cache = true}}\nserver = "{}"'


@pytest.mark.nightly
def test_a_browser_sends_its_first_request_in_0rtt_packets(tmp_path: Path) -> None:
    """Proven by the packets, which hold nothing of the visit before; the browser that must not know the server resumes
    nothing. Either way the logs of the first visit are apart."""
    need(("client", "chromium"), ("server", "caddy"))
    spec = tmp_path / "spec.toml"
    spec.write_text(spec_text(_ARMS, None, workload=_PAGE))
    for arm in _ARMS:
        out = tmp_path / arm
        done = quiclab("trial", spec, "--cell", "object/quiet", "--arm", arm, "--out", out, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (trial,) = trials(out)
        folder = next(out.glob(f"trials/{trial['trial_id']}*"))
        proof = json.loads((folder / "trial.json").read_text())["proof"]
        zero = arm == "zero"
        wanted = "accepted" if zero else "not_offered"
        assert proof["resumed"] is zero
        # Which packets can be opened is not the same every time; the browser's own log always tells.
        assert proof["early_data"] in (wanted, UNPROVEN)
        assert trial["client"]["requests"][0]["early_data"] == wanted
        assert bool(proof["early_data_packets"]) is zero
        begun = [beginning(answer) for answer in proof["answers"]]
        assert begun in (["connections_early_data_accepted" if zero else "connections_full"], [None])
        with_plain_logs(folder)
        logs = folder / "raw/first-visit-netlog.json", folder / "raw/client-qlog/client-netlog.json"
        states = [text.count("AttemptedAndSucceeded") for text in (log.read_text() for log in logs)]
        assert states == [0, int(zero)]
        assert len(trial["client"]["requests"]) == 4


@pytest.mark.nightly
def test_a_browser_that_keeps_its_cache_asks_for_the_document_alone(tmp_path: Path) -> None:
    """The server saw each image once in two visits, and the packets of the measured one have none; the trial counts."""
    need(("client", "chromium"), ("server", "caddy"))
    spec = tmp_path / "spec.toml"
    arms = {"zero": _ARMS["zero"], "kept": _KEPT.format("caddy")}
    spec.write_text(spec_text(arms, None, workload=_PAGE))
    for arm in arms:
        out = tmp_path / arm
        done = quiclab("trial", spec, "--cell", "object/quiet", "--arm", arm, "--out", out, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (trial,) = trials(out)
        folder = with_plain_logs(next(out.glob(f"trials/{trial['trial_id']}*")))
        lines = [line for line in (folder / "raw/server.out").read_text().splitlines() if line.startswith("{")]
        uris = [told["request"]["uri"] for told in map(json.loads, lines) if "request" in told]
        images = sum(uri.endswith(".png") for uri in uris)
        assert (uris.count("/index.html"), images) == (2, 3 if arm == "kept" else 6)
        requests = trial["client"]["requests"]
        assert len(requests) == 4
        assert sum(request["transferred_bytes"] == 0 for request in requests) == (3 if arm == "kept" else 0)
        assert trial["client"]["requests"][0]["early_data"] == "accepted"
        proof = json.loads((folder / "trial.json").read_text())["proof"]
        if proof["http_responses"] != UNPROVEN:
            assert len(proof["http_responses"]) == (1 if arm == "kept" else 4)
