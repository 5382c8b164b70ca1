# SPDX-License-Identifier: Apache-2.0
"""The runs of `make test` and `make nightly` have every test once between them, and tell the truth of what they had."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from by_night import by_night

ROOT = Path(__file__).resolve().parents[3]
TOTALS = ROOT / "tools" / "totals.py"

_MARKERS = ("packets", "alone", "nightly", "matrix")


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # What this run itself requires is no matter of the runs that are looked at.
    own = {name: value for name, value in os.environ.items() if name != "QUICLAB_REQUIRE"}
    env = own | {"PYTHONPATH": str(ROOT / "tests")} | environment
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT, env=env)


def test_every_test_is_in_one_run() -> None:
    """Whatever markers it has: of those of `make test`, which are beside each other or alone, or that of the night."""
    pushes = re.findall(r"^python_tests \w+ '([^']+)'", (ROOT / "tools" / "test.sh").read_text(), re.MULTILINE)
    nights = re.findall(r"-m '([^']+)'", (ROOT / "Makefile").read_text())
    assert (len(pushes), len(nights)) == (3, 1)
    for has in itertools.product((False, True), repeat=len(_MARKERS)):
        known = dict(zip(_MARKERS, has, strict=True))
        runs = [expression for expression in (*pushes, *nights) if eval(expression, {}, dict(known))]
        assert len(runs) == 1, (known, runs)


def test_the_steps_that_read_some_folders_miss_nothing() -> None:
    """No test of real programs, nor one that is alone, is in another folder."""
    (read,) = re.findall(r'^programs="([^"]+)"$', (ROOT / "tools" / "test.sh").read_text(), re.MULTILINE)
    by_folder = re.findall(r'"(\w+)": "packets"', (ROOT / "tests" / "conftest.py").read_text())
    assert by_folder
    folders = {f"tests/{folder}" for folder in by_folder}
    for file in (ROOT / "tests").rglob("test_*.py"):
        if re.search(r"mark\.(alone|netns|packets)\b", file.read_text()):
            folders.add(file.relative_to(ROOT).parent.as_posix())
    assert [folder for folder in folders if not folder.startswith((*read.split(), "tests/nightly"))] == []


def test_every_study_has_its_night() -> None:
    """By the folder of its tests, which gives the marker: nobody has to name a new study."""
    night = ROOT / "tests" / "nightly" / "test_small_studies.py"
    one_per_line = ("-o", "addopts=--import-mode=importlib")
    listed = _run(sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "nightly", *one_per_line, night).stdout
    small = list(ROOT.glob("experiments/*/small.toml"))
    assert small
    assert [each.parent.name for each in small if f"{each.parent.name}]" not in listed] == []


_TESTS = """
import pytest
from by_night import by_night
def test_passes(): pass
def test_skips(): pytest.skip("client quinn: not installed; make stacks")
@pytest.mark.skipif(True, reason="this kernel has no bbr")
def test_skips_by_a_mark(): pass
"""


def _tests(folder: Path, text: str, results: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """pytest over one file."""
    folder.mkdir()
    results.mkdir(exist_ok=True)
    (folder / "test_it.py").write_text(text)
    options = ("-q", "-p", "required", "-p", "no:cacheprovider", f"--rootdir={folder}", "-c", os.devnull)
    result = f"--junitxml={results / folder.name}.xml"
    return _run(sys.executable, "-m", "pytest", *options, result, folder / "test_it.py", **environment)


def test_a_program_that_is_required_is_not_skipped(tmp_path: Path) -> None:
    """Its tests fail with the reason; other skips stay what they are."""
    assert (
        _tests(tmp_path / "a", _TESTS, tmp_path / "results").stdout.splitlines()[-1].startswith("1 passed, 2 skipped")
    )
    required = _tests(tmp_path / "b", _TESTS, tmp_path / "results", QUICLAB_REQUIRE="nginx quinn")
    assert "QUICLAB_REQUIRE names quinn, but this test was skipped: Skipped: client quinn" in required.stdout
    assert required.stdout.splitlines()[-1].startswith("1 failed, 1 passed, 1 skipped")
    every = _tests(tmp_path / "c", _TESTS, tmp_path / "results", QUICLAB_REQUIRE="all")
    assert every.stdout.splitlines()[-1].startswith("1 failed, 1 passed, 1 skipped")


_BAD_FIXTURE = """
import pytest
from by_night import by_night
@pytest.fixture
def bad():
    yield
    raise OSError
def test_it(bad): assert False
"""


@pytest.mark.parametrize(
    ("second", "line", "code"),
    [
        ("def test_it(): pass\n", "2 passed, 0 failed, 2 skipped", 0),
        ("def test_it(): assert False\n", "1 passed, 1 failed, 2 skipped", 1),
        (_BAD_FIXTURE, "1 passed, 2 failed, 2 skipped", 1),
        *by_night(("import no_such_module\n", "1 passed, 1 failed, 2 skipped", 1)),
    ],
)
def test_the_last_line_adds_up_all_runs(tmp_path: Path, second: str, line: str, code: int) -> None:
    """A failure and one of a fixture after it are two, as in pytest's own line; an unreadable file is one."""
    _tests(tmp_path / "a", _TESTS, tmp_path / "results")
    _tests(tmp_path / "b", second, tmp_path / "results")
    done = _run(sys.executable, TOTALS, tmp_path / "results")
    assert (done.stdout, done.returncode) == (line + "\n", code)


def test_nothing_is_no_success(tmp_path: Path) -> None:
    """Runs that left no result."""
    done = _run(sys.executable, TOTALS, tmp_path)
    assert (done.stdout, done.returncode) == ("0 passed, 0 failed, 0 skipped\n", 1)


def test_a_stage_has_the_exit_code_of_its_command_and_tells_how_long_it_took() -> None:
    """Under `set -e` a failing one ends the script after that line."""
    script = f". {ROOT}/tools/stages.sh; set -eu; stage one true; stage two sh -c 'exit 7'; echo never"
    done = _run("sh", "-c", script)
    assert done.returncode == 7
    assert re.fullmatch(r"== one\n== one: \d+ min \d\d s\n== two\n== two: \d+ min \d\d s\n", done.stdout)


def _step(folder: Path, name: str, text: str) -> None:
    """A program that says that it runs, in place of one that takes minutes."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


CODE, PYTHON = ["lint python", "lint rust", "cargo", "programs"], ["units", "packets", "alone", "totals"]


@pytest.mark.parametrize(
    ("part", "lint", "code", "steps"),
    [
        ([], "", 0, [*CODE, *PYTHON]),
        (["code"], "", 0, CODE),
        (["python"], "exit 5", 0, PYTHON),
        ([], "[ $1 = rust ] || exit 3", 3, CODE),
        (["code"], "[ $1 = python ] || exit 4", 4, ["lint python", "lint rust"]),
    ],
)
def test_steps_of_the_whole_run(tmp_path: Path, part: list[str], lint: str, code: int, steps: list[str]) -> None:
    """Each step once; bad code ends the run before the Python tests, and is told, although Python's is looked at beside
    the compilers."""
    for name in ("test.sh", "stages.sh"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    _step(tmp_path, "tools/lint.sh", f'echo "ran lint $1"; {lint}')
    _step(tmp_path, "tools/test_programs.sh", "echo ran programs")
    _step(tmp_path, ".venv/bin/python", 'expr "$*" : "tools/totals.*" >/dev/null && echo ran totals || echo "ran $7"')
    _step(tmp_path, "bin/cargo", "echo ran cargo")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = _run(tmp_path / "tools" / "test.sh", *part, PATH=path)
    assert done.returncode == code, done.stderr
    told = re.findall(r"^ran (.+)$", done.stdout, re.MULTILINE)
    ran = [re.sub(r".*test-results/(\w+)\.xml", r"\1", line) for line in told]
    assert sorted(ran) == sorted(steps)
