# SPDX-License-Identifier: Apache-2.0
"""`make unit` finds a room's tests by its name, and `make check` those of what changed since main."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from unit_tests import EXPRESSION, UnknownRoomError, folders_of_room

ROOT = Path(__file__).resolve().parents[3]

FILES = {
    ".gitignore": "pytest.py\n__pycache__\n",
    "src/quiclab/api.py": "",
    "src/quiclab/why/causes.py": "",
    "src/quiclab/why/account/hop.py": "",
    "src/quiclab/why/mechanisms/loss.py": "",
    "src/quiclab/logs/decoders/clocks.py": "",
    "src/quiclab/plan/make.py": "",
    "crates/log-decode/src/lib.rs": "",
    "docs/page.md": "",
    "tests/scenes.py": "",
    "tests/unit/test_api.py": "def test_it(): pass\n",
    "tests/unit/why/test_luck.py": "def test_it(): pass\n",
    "tests/unit/why/account/test_hop.py": "from scenes import x\ndef test_it(): pass\n",
    "tests/unit/logs/decoders/test_clocks.py": "def test_it(): pass\n",
    "tests/unit/tools/test_tool.py": "def test_it(): pass\n",
    "tests/decoders/qlog/test_it.py": "def test_it(): pass\n",
}


def git(root: Path, *words: str) -> None:
    """A step of a history that no settings of this machine change."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with rooms, on a branch that has just left main, and the tool in it."""
    root = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "unit_tests.py", root / "tools")
    git(root, "init", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--message=All")
    git(root, "switch", "--create", "work")
    return root


@pytest.fixture
def project(history: Path, tmp_path: Path) -> Path:
    """A copy of that project, to be changed."""
    return shutil.copytree(history, tmp_path / "project")


def run(project: Path, *words: str) -> tuple[int, list[str]]:
    """Exit code of the tool, and what it says before pytest does."""
    (project / "pytest.py").write_text("")  # in place of pytest, whose own start takes longer than all else here
    command = [sys.executable, project / "tools" / "unit_tests.py", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("src/quiclab/why/account/hop.py", "tests/unit/why/account"),
        ("src/quiclab/why/mechanisms/loss.py", "tests/unit/why"),  # that room has no tests of its own
        ("src/quiclab/why/new.py", "tests/unit/why"),
        ("src/quiclab/logs/decoders/clocks.py", "tests/decoders tests/unit/logs/decoders"),
        ("src/quiclab/api.py", "tests/unit/test_api.py"),
        ("tests/unit/why/test_luck.py", "tests/unit/why"),
        ("tests/scenes.py", "tests/unit/why/account/test_hop.py"),
        ("docs/page.md", "tests/unit/test_api.py tests/unit/tools"),
    ],
)
@pytest.mark.parametrize("committed", [True, False])
def test_a_change_runs_the_tests_of_its_room(project: Path, file: str, said: str, committed: bool) -> None:
    """Committed on the branch or not, new or old."""
    (project / file).write_text("changed = True\n")
    if committed:
        git(project, "add", ".")
        git(project, "commit", "--message=A change")
    assert run(project, "--changed") == (0, [f"unit tests: {said}"])


def test_a_removed_module_runs_the_tests_of_its_room(project: Path) -> None:
    """Those that used it would fail."""
    (project / "src/quiclab/why/causes.py").unlink()
    assert run(project, "--changed") == (0, ["unit tests: tests/unit/why"])


def test_what_main_changed_meanwhile_is_no_change(project: Path) -> None:
    """Only what this branch has done since it left main."""
    git(project, "switch", "main")
    (project / "src/quiclab/why/causes.py").write_text("changed = True\n")
    git(project, "commit", "--all", "--message=Of another")
    git(project, "switch", "work")
    assert run(project, "--changed") == (0, ["nothing that unit tests look at changed since main"])


def test_a_crate_is_left_to_make_test_and_its_callers_are_tested(project: Path) -> None:
    """Tests of decoders call it."""
    (project / "crates/log-decode/src/lib.rs").write_text("// changed\n")
    assert run(project, "--changed") == (
        0,
        ["log-decode changed: its own tests run in `make test`", "unit tests: tests/decoders tests/unit/logs"],
    )


def test_without_main_all_tests_run(project: Path) -> None:
    """As in a clone of one branch."""
    git(project, "branch", "--delete", "main")
    said = ["no main to compare with: all unit tests", "unit tests: tests/unit tests/decoders"]
    assert run(project, "--changed") == (0, said)


def test_an_unknown_room_is_named_with_the_nearest(project: Path) -> None:
    """One sentence and no traceback; without one that is near, all wings."""
    assert run(project, "acount") == (2, ["unit_tests.py: no room 'acount': did you mean account?"])
    assert run(project, "zzz") == (2, ["unit_tests.py: no room 'zzz': there are logs, tools, why"])


def test_the_exit_code_is_that_of_pytest(project: Path) -> None:
    """A failing test fails `make unit`; one with packets is not run."""
    marked = "import pytest\n@pytest.mark.packets\ndef test_it(): raise OSError\ndef test_other(): {}\n"
    (project / "pytest.ini").write_text("[pytest]\nmarkers =\n  packets\n  alone\n  nightly\n  matrix\n")
    tool = [sys.executable, project / "tools" / "unit_tests.py", "why/account"]
    for what, code in (("pass", 0), ("raise OSError", 1)):
        (project / "tests/unit/why/account/test_hop.py").write_text(marked.format(what))
        assert subprocess.run(tool, capture_output=True, check=False).returncode == code


def test_rooms_of_this_project_are_found() -> None:
    """By their own name, by that of the wing, and with tests that stand elsewhere."""
    assert (
        folders_of_room(ROOT, "account")
        == folders_of_room(ROOT, "why/account")
        == [PurePosixPath("tests/unit/why/account")]
    )
    assert set(folders_of_room(ROOT, "logs")) == {PurePosixPath("tests/unit/logs"), PurePosixPath("tests/decoders")}
    with pytest.raises(UnknownRoomError):
        folders_of_room(ROOT, "")


def test_the_tests_are_those_of_the_first_step_of_make_test() -> None:
    """What `make unit` leaves out, the other steps of `make test` have."""
    assert f"'{EXPRESSION}'" in (ROOT / "tools" / "test.sh").read_text(encoding="utf-8")
