# SPDX-License-Identifier: Apache-2.0
"""Work shared out among processors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quiclab.model.errors import HostError, QuiclabError
from quiclab.processes import by_all_processors, in_fresh_process


@pytest.fixture(autouse=True)
def _three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2})


def test_results_stand_in_the_order_of_the_items() -> None:
    """Whoever made them; more processors than items, and no item, are no fault."""
    assert by_all_processors(str, range(10)) == [str(number) for number in range(10)]
    assert by_all_processors(str, range(2)) == ["0", "1"]
    assert by_all_processors(str, []) == []


def test_several_processes_do_the_work() -> None:
    """This one does a share itself."""
    doers = by_all_processors(_who, range(9))
    assert len(set(doers)) == 3
    assert os.getpid() in doers


def test_an_error_is_raised_where_the_work_was_asked_for() -> None:
    """With its kind, its words and its hint."""
    with pytest.raises(QuiclabError, match="item 2 is odd") as told:
        by_all_processors(_fails_at_two, range(4))
    assert told.value.hint == "take another"
    with pytest.raises(OSError, match="No space left"):
        by_all_processors(_disk_full, range(4))


def test_a_process_that_is_ended_by_the_machine_is_told() -> None:
    """As the kernel does where memory is used up."""
    with pytest.raises(HostError, match="ended a process"):
        by_all_processors(_dies, range(4))


def test_a_program_without_a_main_guard_can_use_it(tmp_path: Path) -> None:
    """Such is a console script: it is not run again by the processes."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nos.sched_getaffinity = lambda _pid: {0, 1}\n"
        "from quiclab.processes import by_all_processors\nprint(by_all_processors(abs, [-1, -2, -3]))\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout, run.stderr) == ("[1, 2, 3]\n", "")


def test_each_item_is_told_when_it_is_done() -> None:
    """Here, whoever did it."""
    told: list[int] = []
    by_all_processors(abs, range(10), done=lambda: told.append(os.getpid()))
    assert told == [os.getpid()] * 10


def test_a_fresh_process_answers_for_itself() -> None:
    """What it prints is no part of its answer, and what it raises is raised here."""
    doer, printed = in_fresh_process(_prints, "hello")
    assert (doer != os.getpid(), printed) == (True, "hello")
    with pytest.raises(QuiclabError, match="item 2 is odd"):
        in_fresh_process(_fails_at_two, 2)


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    """Also where that is killed, and nobody tells them."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import os, sys, time\nsys.path[:0] = {[str(Path(__file__).parents[1])]!r}\n"
        "os.sched_getaffinity = lambda _pid: {0, 1}\n"
        "from unit.test_processes import stays\nfrom quiclab.processes import by_all_processors\n"
        f"by_all_processors(stays, [{str(tmp_path / '1')!r}, {str(tmp_path / '2')!r}])\n"
    )
    caller = subprocess.Popen([sys.executable, script])
    deadline = time.monotonic() + 60
    while len(found := list(tmp_path.glob("[12]/pid-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    caller.kill()
    caller.wait()
    (helper,) = {int(each.name.removeprefix("pid-")) for each in found} - {caller.pid}
    while _lives(helper):
        assert time.monotonic() < deadline, "the helper lives on"
        time.sleep(0.02)


def stays(place: str) -> None:
    """Work that does not end by itself."""
    Path(place).mkdir()
    Path(place, f"pid-{os.getpid()}").touch()
    time.sleep(600)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _prints(word: str) -> tuple[int, str]:
    print("aside")
    os.write(1, b"aside")
    return os.getpid(), word


def _who(_item: int) -> int:
    return os.getpid()


def _fails_at_two(item: int) -> int:
    if item == 2:
        raise QuiclabError("item 2 is odd", "take another")
    return item


def _disk_full(item: int) -> int:
    if item == 1:
        raise OSError(28, "No space left on device")
    return item


def _dies(item: int) -> int:
    if item == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item
