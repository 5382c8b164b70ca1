# SPDX-License-Identifier: Apache-2.0
"""A study without the command line, and what has been decoded once."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from small_study import lab_processes, main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-from-python.md"


def _tables(study: Path) -> dict[str, pl.DataFrame]:
    return {str(file.relative_to(study)): pl.read_parquet(file) for file in study.glob("tables/*/*.parquet")}


def test_the_programs_of_the_page(tmp_path: Path) -> None:
    """Five lines run a study and show its tables; the others make these again."""
    main_only(write_spec(tmp_path))
    run, again = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(run.split("\n\n")[0].splitlines()) + len(run.split("\n\n")[1].splitlines()) == 5
    done = subprocess.run(
        [sys.executable, "-c", f"{run}\n{again}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "0 trials failed"
    assert "cell_id" in done.stdout  # the table of differences
    assert done.stdout.splitlines()[-2:] == ["1 of 2", "2 of 2"]


def test_what_is_wrong_is_raised(tmp_path: Path) -> None:
    """As the errors of quiclab, from before the sandbox and from within."""
    spec = write_spec(tmp_path, client='"no-such-client"')
    program = (
        "from quiclab.model.errors import QuiclabError\nfrom quiclab.study import run_study\n"
        f"try:\n    run_study({str(spec)!r}, {str(tmp_path / 'study')!r}{{}})\n"
        "except QuiclabError as error:\n    print(type(error).__name__, error)\n"
    )
    wrong = subprocess.run([sys.executable, "-c", program.format("")], capture_output=True, text=True, check=False)
    assert wrong.stdout.startswith("SpecError"), wrong.stderr
    main_only(write_spec(tmp_path))
    assert quiclab("run", spec, "--out", tmp_path / "study", "--no-report", "--backend", "veth").returncode == 0
    mixed = subprocess.run(
        [sys.executable, "-c", program.format(", backend='tun'")], capture_output=True, text=True, check=False
    )
    assert "would now go on over tun" in mixed.stdout, mixed.stderr


@pytest.mark.nightly
def test_side_by_side_and_without_logs(tmp_path: Path) -> None:
    """As `quiclab run` takes them; what is wrong with either is raised."""
    study = tmp_path / "study"
    call = f"run_study({str(main_only(write_spec(tmp_path, blocks=3)))!r}, {str(study)!r}, "
    program = (
        "from quiclab.model.errors import SpecError\nfrom quiclab.study import run_study\n"
        "for wrong in ({'jobs': 0}, {'keep_raw': 'some'}):\n"
        f"    try:\n        {call}**wrong)\n    except SpecError as error:\n        print(error)\n"
        f"print({call}jobs=2, keep_raw='failures').all_count)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["jobs", "keep_raw", "True"]
    assert any(trial["link"].get("shared") for trial in trials(study))
    assert not list(study.glob("trials/*/raw"))


def test_a_program_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C ends the study as it ends `quiclab run`: in order, and its trials stay."""
    study = tmp_path / "study"
    spec = write_spec(tmp_path, blocks=20)
    program = f"from quiclab.study import run_study\nrun_study({str(spec)!r}, {str(study)!r})\n"
    running = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(study.glob("trials/[!.]*")):
        assert time.monotonic() < deadline, running.poll()
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=60)[1]
    assert "KeyboardInterrupt" in told
    assert running.returncode != 0
    deadline = time.monotonic() + 60
    while lab_processes(study):
        assert time.monotonic() < deadline, lab_processes(study)
        time.sleep(0.02)
    assert trials(study)
    assert not (study / ".work").exists()


@pytest.mark.nightly
def test_a_report_after_a_run_decodes_nothing(tmp_path: Path) -> None:
    """Tables are made when a trial ends: logs that no longer hold anything are not missed, until they are asked for."""
    study = tmp_path / "study"
    done = quiclab("run", main_only(write_spec(tmp_path)), "--out", study, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    made = _tables(study)
    shutil.copytree(study, tmp_path / "whole")
    assert quiclab("report", tmp_path / "whole", "--again").returncode == 0
    again = _tables(tmp_path / "whole")
    assert again.keys() == made.keys()
    assert all(table.equals(again[name]) for name, table in made.items())
    for log in study.glob("trials/*/raw/**/*"):
        if log.is_file():
            log.write_bytes(bytes(log.stat().st_size))
    assert quiclab("report", study).returncode == 0
    metrics = pl.read_parquet(study / "metrics.parquet")
    assert metrics.equals(pl.read_parquet(tmp_path / "whole" / "metrics.parquet"))
    assert metrics.filter(name="ttlb_ms")["value"].null_count() == 0
    assert quiclab("report", study, "--again").returncode == 0
    assert not pl.read_parquet(study / "metrics.parquet").equals(metrics)
