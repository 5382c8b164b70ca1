# SPDX-License-Identifier: Apache-2.0
"""What we believe of libcurl in the wheel `curl_cffi`, held against the real program."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.matrix
def test_5_mb_twenty_times_per_protocol_without_a_rate_limit(tmp_path: Path) -> None:
    """With our two options HTTP/2 never stalls at 1 MiB, as this build of libcurl does with its own settings."""
    spec = write_spec(tmp_path, blocks=20, size="5 MB", trial_limit="10 s")
    text = spec.read_text().replace('rate = "20 Mbit/s"\n', "")
    spec.write_text(text.replace("blocks = 20\n", 'blocks = 20\ncaptures = "headers"\n', 1))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    main = trials(tmp_path / "study")
    assert len(main) == 40
    assert {trial["status"] for trial in main} == {"verified"}
