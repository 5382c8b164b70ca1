# SPDX-License-Identifier: Apache-2.0
"""`quiclab ask` with real programs: a study, three sentences, and the same question again."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import quiclab, trials

from quiclab.model.errors import RAN
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
    assert "NOT EQUAL: congestion control: h2 has" in told
    assert 'rtt = "400 ms"' in (study / "spec.toml").read_text()
    assert (study / "report.html").exists()
    assert len(trials(study)) >= 2 * LEAST_PAIRS - 2

    other = quiclab("ask", "--size", "20KB", *_QUESTION[3:], "--out", study, timeout=60)
    assert other.returncode == 2
    assert "the spec differs" in other.stderr
    again = quiclab(*_QUESTION, "--out", study, "--minutes", "0.2", timeout=300)
    assert again.returncode in RAN, again.stdout + again.stderr


_ROOT = Path(__file__).resolve().parents[2]
_HAR = _ROOT / "experiments"
