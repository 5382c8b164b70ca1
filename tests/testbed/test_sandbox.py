# SPDX-License-Identifier: Apache-2.0
"""The sandbox: what is started in it never outlives it, and the host does not change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from by_night import by_night

from quiclab.model.errors import ExitCode

pytestmark = pytest.mark.netns


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", f"from quiclab.lab.testbed.sandbox import run_in_sandbox\n{code}"]


def _run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_python(code), capture_output=True, text=True, timeout=30, check=False)


def test_exit_code_and_output_come_out() -> None:
    """The function's result is the exit code; its output is the caller's."""
    done = _run("def main():\n    print('inside')\n    return 7\nraise SystemExit(run_in_sandbox(main))")
    assert (done.returncode, done.stdout) == (7, "inside\n")


def test_it_is_first_process_and_root_of_namespaces_of_its_own() -> None:
    """PID 1, root, and a network with nothing but a loopback that is down."""
    code = (
        "import os\ndef main():\n    print(os.getpid(), os.geteuid(), sorted(os.listdir('/sys/class/net')) and "
        "open('/proc/net/dev').read().count(':'))\n    return 0\nrun_in_sandbox(main)"
    )
    assert _run(code).stdout == "1 0 1\n"


@pytest.mark.parametrize("victim", ["caller", "keeper", "first"])
def test_killed_anywhere_nothing_is_left(victim: str, tmp_path: Path) -> None:
    """`kill -9` of any of its processes ends all of them, grandchildren in sessions of their own included."""
    mark = f"86400.{os.getpid()}{victim}".replace("caller", "1").replace("keeper", "2").replace("first", "3")
    code = (
        "import subprocess, time\ndef main():\n"
        f"    subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n    time.sleep(60)\n    return 0\n"
        "run_in_sandbox(main)"
    )
    caller = subprocess.Popen(_python(code), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for(lambda: len(_with(mark)) >= 1)
    family = [caller.pid]
    for _ in range(2):
        family.append(int(Path(f"/proc/{family[-1]}/task/{family[-1]}/children").read_text().split()[0]))
    os.kill(family[{"caller": 0, "keeper": 1, "first": 2}[victim]], signal.SIGKILL)
    caller.wait(timeout=60)
    _wait_for(lambda: not _with(mark))


@pytest.mark.parametrize("victim", ["caller", "keeper"])
@pytest.mark.parametrize("_time", [0, 1, *by_night(2, 3, 4, 5)])
def test_killed_before_a_process_knows_of_its_parent(victim: str, _time: int, tmp_path: Path) -> None:
    """A child that asks for a signal at its parent's end when that is over would live on: it must look."""
    started = tmp_path / "started"
    code = (
        "import os, subprocess, time\nimport quiclab.lab.testbed.sandbox as sandbox\n"
        "ask = sandbox._libc.die_with_parent\n"
        "def late(number):\n    if os.getpid() == 1:\n"
        f"        open({str(tmp_path / 'window')!r}, 'w').close()\n"
        "    time.sleep(0.3)\n    ask(number)\n"
        "sandbox._libc.die_with_parent = late\n"
        f"def main():\n    open({str(started)!r}, 'w').close()\n    time.sleep(60)\n    return 0\n"
        "run_in_sandbox(main)"
    )
    caller = subprocess.Popen(_python(code), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for(lambda: (tmp_path / "window").exists())  # PID 1 is in the window
    keeper = int(Path(f"/proc/{caller.pid}/task/{caller.pid}/children").read_text().split()[0])
    first = int(Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0])
    os.kill({"caller": caller.pid, "keeper": keeper}[victim], signal.SIGKILL)
    caller.wait(timeout=60)
    _wait_for(lambda: not _lives(first))
    assert not started.exists()


@pytest.mark.parametrize(
    "what", ["raise OSError(24, 'too many')", "raise SystemExit(1)", "import nothing_of_this_name"]
)
def test_a_crash_is_no_trial_that_failed(what: str) -> None:
    """Code 1 says that a study is finished; a crash has a code of its own."""
    assert _run(f"def main():\n    {what}\nraise SystemExit(run_in_sandbox(main))").returncode == 70


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", ["die_with_parent", "mount"])
def test_interrupted_before_the_first_process_has_begun(number: signal.Signals, where: str, tmp_path: Path) -> None:
    """In the first instants too, it is an interruption, and neither a crash nor an end."""
    code = (
        "import os, signal, time\nimport quiclab.lab.testbed.sandbox as sandbox\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # whatever nohup started these tests
        f"real = sandbox._libc.{where}\n"
        "def slow(*arguments):\n"
        "    if os.getpid() == 1:\n"
        f"        open({str(tmp_path / 'there')!r}, 'w').close()\n        time.sleep(5)\n"
        "    real(*arguments)\n"
        f"sandbox._libc.{where} = slow\nraise SystemExit(run_in_sandbox(lambda: 0))"
    )
    caller = subprocess.Popen(_python(code), stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: (tmp_path / "there").exists())
    caller.send_signal(number)
    _, told = caller.communicate(timeout=60)
    assert (caller.returncode, told) == (130, "")


def test_each_ctrl_c_of_the_terminal_is_counted_once() -> None:
    """It reaches every process of the group, and some hand it on: the sandbox's first process hears it more often."""
    code = (
        "import signal, time\nfrom quiclab.lab.testbed.sandbox import ctrl_c_count\n"
        "def main():\n"
        "    signal.signal(signal.SIGINT, lambda *_: None)\n    print('ready', flush=True)\n"
        "    end = time.monotonic() + 20\n"
        "    while ctrl_c_count() < 3 and time.monotonic() < end:\n        time.sleep(0.01)\n"
        "    time.sleep(0.3)\n    print(ctrl_c_count())\n    return 0\n"
        "assert ctrl_c_count() is None\nraise SystemExit(run_in_sandbox(main))"
    )
    caller = subprocess.Popen(_python(code), stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert caller.stdout is not None
    assert caller.stdout.readline() == "ready\n"
    for _ in range(3):
        os.killpg(caller.pid, signal.SIGINT)
        time.sleep(0.1)
    told, _ = caller.communicate(timeout=60)
    assert (caller.returncode, told) == (0, "3\n")


def test_an_interruption_that_python_drops_counts() -> None:
    """Dropped while a finalizer runs, it is raised before the next step; no traceback is shown."""
    code = (
        "import os, signal\nfrom quiclab.lab.testbed.sandbox import raise_if_interrupted\n"
        "class Held:\n    def __del__(self):\n        os.kill(1, signal.SIGTERM)\n        print('not here')\n"
        "def main():\n    raise_if_interrupted()\n    held = Held()\n    del held\n    print('on', flush=True)\n"
        "    raise_if_interrupted()\n    print('next step')\n    return 0\nraise SystemExit(run_in_sandbox(main))"
    )
    done = _run(code)
    assert (done.returncode, done.stdout, done.stderr) == (ExitCode.INTERRUPTED, "on\n", "")


@pytest.mark.parametrize("machine", ["allows", "forbids"])
def test_a_caller_that_is_gone_already_is_told_nothing(machine: str) -> None:
    """Killed between the fork and the word that its namespaces are there, it leaves a keeper without a reader."""
    code = (
        "import os\nfrom quiclab.lab.testbed import _libc, sandbox\nfrom quiclab.model.errors import HostError\n"
        "def refuse(*_):\n    raise HostError('no', 'none')\n"
        f"_libc.unshare = refuse if {machine!r} == 'forbids' else _libc.unshare\n"
        "pipes = os.pipe(), os.pipe()\nos.close(pipes[0][0])\n"
        "raise SystemExit(sandbox._keep(lambda: 0, pipes[0][1], pipes[1][0], True))"
    )
    done = _run(code)
    assert (done.returncode, done.stderr) == (ExitCode.CRASH, "")


def test_a_thread_forbids_entering() -> None:
    """A mistake of the program is not a user's error."""
    code = (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n"
        "run_in_sandbox(lambda: 0)"
    )
    assert "before any thread" in _run(code).stderr


def test_forbidden_user_namespaces_are_explained() -> None:
    """Where the machine forbids them, the hint says what to ask for."""
    code = (
        "from pathlib import Path\nfrom quiclab.model.errors import HostError\n"
        "def inner():\n    return 0\n"
        "def main():\n"
        "    Path('/proc/sys/user/max_user_namespaces').write_text('0')\n"
        "    try:\n        return run_in_sandbox(inner)\n"
        "    except HostError as error:\n        print(error.message, '|', error.hint)\n        return 3\n"
        "raise SystemExit(run_in_sandbox(main))"
    )
    done = _run(code)
    assert done.returncode == 3, done.stderr
    assert "cannot make user" in done.stdout
    assert "max_user_namespaces" in done.stdout


def _lives(pid: int) -> bool:
    """Not so of one that nobody has taken leave of yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _with(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if line.startswith(b"sleep") and mark.encode() in line:
                found.append(entry.name)
    return found


def _wait_for(condition: object) -> None:
    deadline = time.monotonic() + 60
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_chamber_has_its_own_processes_and_mounts(tmp_path: Path) -> None:
    """Its first process is PID 1 again and may kill all others there; its mounts are seen below its keeper's root."""
    code = f"""
import os, signal, time
from pathlib import Path
from quiclab.lab.testbed.confinement import mount_work_dir
from quiclab.lab.testbed.process import kill_everything_else
from quiclab.lab.testbed.sandbox import fork_chamber, fork_child
folder = Path({str(tmp_path)!r})

def first():
    mount_work_dir(folder / "work")
    (folder / "work" / "mine").touch()
    kill_everything_else()
    (folder / "pid").write_text(str(os.getpid()))
    time.sleep(60)
    return 0

def main():
    beside = fork_child(lambda: time.sleep(60) or 0)
    keeper = fork_chamber(first)
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        time.sleep(0.01)
    seen = Path(f"/proc/{{keeper}}/root{{folder}}/work/mine").exists(), (folder / "work" / "mine").exists()
    os.kill(beside, 0)
    os.kill(keeper, signal.SIGKILL)
    print((folder / "pid").read_text(), *seen, os.waitstatus_to_exitcode(os.waitpid(keeper, 0)[1]))
    return 0
run_in_sandbox(main)
"""
    assert _run(code).stdout == "1 True False -9\n"
