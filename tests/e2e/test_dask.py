# SPDX-License-Identifier: Apache-2.0
"""A study whose blocks workers of a Dask cluster run: its trials are the plan's, whatever becomes of the workers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest
from by_night import by_night
from small_study import lab_processes, main_only, quiclab, start_quiclab, trials, write_spec

from quiclab.plan.make import make_plan
from quiclab.plan.part import Part
from quiclab.spec.read import read_study
from quiclab.store.archive import pack
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.dask.cluster import connected
from quiclab.study.dask.results import Results
from quiclab.study.run import run_study
from quiclab.study.specs import held

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PATIENCE_S = 90


def _leases(study: Path) -> list[tuple[str, str, str | None]]:
    """Block, worker and outcome of every lease, in their order; none while there is no ledger."""
    if not (study / "ledger.sqlite").exists():
        return []
    with (
        closing(sqlite3.connect(f"{(study / 'ledger.sqlite').as_uri()}?mode=ro", uri=True)) as db,
        suppress(sqlite3.OperationalError),  # it is being made
    ):
        return list(db.execute("SELECT block_id, worker, outcome FROM leases ORDER BY fence"))
    return []


def _wait(until: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def _at_work(study: Path) -> int:
    """The process of the worker that runs the block which was granted first."""
    _wait(lambda: _leases(study), "no block is granted")
    _, name, _ = _leases(study)[0]
    worker = _listener(int(name.rpartition(":")[2].rstrip(")")))
    _wait(lambda: _runs_a_block(worker), "the block does not begin")
    return worker


def _runs_a_block(worker: int) -> bool:
    with suppress(OSError):  # a process that has just ended
        threads = (each.read_text().split() for each in Path(f"/proc/{worker}/task").glob("*/children"))
        children = [Path("/proc", pid, "cmdline").read_bytes() for pids in threads for pid in pids]
        return any(b"quiclab.processes" in line for line in children)
    return False


def _listener(port: int) -> int:
    """The process that listens on a port of 127.0.0.1."""
    entries = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    here = {
        f"socket:[{each[9]}]" for each in entries if each[3] == "0A" and int(each[1].rpartition(":")[2], 16) == port
    }
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            for fd in (process / "fd").iterdir():
                with suppress(OSError):  # it was closed meanwhile
                    if str(fd.readlink()) in here:
                        return int(process.name)
    raise AssertionError(f"no process listens on port {port}")


def _as_planned(spec: Path, study: Path) -> bool:
    """Whether a study has exactly the planned trials, each verified and attempted once."""
    kept = trials(study)
    assert all(each["status"] == "verified" for each in kept), [each["reason"] for each in kept]
    return sorted(each["trial_id"] for each in kept) == sorted(row.trial_id for row in make_plan(read_study(spec)))


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """Processes of a test, which end with it."""
    with ExitStack() as ended:
        yield ended


def _start(
    processes: ExitStack, module: str, *arguments: str | Path, before: tuple[str, ...] = ()
) -> subprocess.Popen[bytes]:
    environment = os.environ | {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "2s"}
    process = subprocess.Popen(
        [*before, sys.executable, "-m", f"distributed.cli.{module}", *map(str, arguments)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def end() -> None:
        process.kill()
        process.wait()

    processes.callback(end)
    return process


@pytest.mark.nightly
def test_ctrl_c_finishes_blocks_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Two workers on this machine: blocks under way are merged, and in the end the study is the one of a plain run."""
    spec, study = main_only(write_spec(tmp_path, blocks=3)), tmp_path / "study"
    events = tmp_path / "events.jsonl"
    command = ("run", spec, "--dask", "local:2", "--out", study, "--no-report", "--events", events)
    running = start_quiclab(*command)
    _wait(lambda: _leases(study), "no block is granted")
    os.killpg(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=_PATIENCE_S)
    assert running.returncode == 130, told
    assert "Finishing the blocks under way" in told
    assert "Traceback" not in told
    ended = [json.loads(line) for line in events.read_text().splitlines()]
    assert (ended[-1]["event"], ended[-1]["exit_code"]) == ("finished", 130)
    assert "--dask local:2" in told.splitlines()[-1]
    granted = _leases(study)
    assert {outcome for _, _, outcome in granted} == {"merged"}, told
    assert len(trials(study)) == 2 * len(granted) < 6
    done = quiclab(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _as_planned(spec, study)
    assert [file.suffix for file in (study / "hosts").iterdir()] == [".json"]
    assert not (study / ".parts").exists()
    _wait(lambda: not lab_processes(study), "a process of the study is left")


@pytest.mark.nightly
def test_a_worker_is_killed(tmp_path: Path) -> None:
    """Its block is run again under a new lease, and what it had begun is in nobody's way."""
    spec, study = main_only(write_spec(tmp_path, blocks=2)), tmp_path / "study"
    running = start_quiclab("run", spec, "--dask", "local:2", "--out", study, "--no-report")
    os.kill(_at_work(study), signal.SIGKILL)
    told, _ = running.communicate(timeout=_PATIENCE_S)
    assert running.returncode == 0, told
    assert "is gone" in told
    assert _as_planned(spec, study)
    _lost_once_and_merged(study)


@pytest.mark.nightly
def test_the_process_that_looks_at_a_machine_is_killed(tmp_path: Path) -> None:
    """The worker is looked at again, and gets blocks."""
    spec, study = main_only(write_spec(tmp_path, blocks=1)), tmp_path / "study"
    running = start_quiclab("run", spec, "--dask", "local:1", "--out", study, "--no-report")
    _wait(lambda: _looking(study), "no worker is looked at")
    for process in _looking(study):
        process.kill()
    told, _ = running.communicate(timeout=_PATIENCE_S)
    assert running.returncode == 0, told
    assert "gets no blocks" not in told
    assert _as_planned(spec, study)


def _looking(study: Path) -> list[psutil.Process]:
    """Processes in which workers of a run look at their machine, before any block is granted."""
    found = []
    for nanny in psutil.process_iter():
        with suppress(psutil.Error):
            words = " ".join(nanny.cmdline())
            if "dask_worker" in words and str(study) in words:
                found += [each for each in nanny.children(recursive=True) if "quiclab.processes" in str(each.cmdline())]
    return [] if _leases(study) else found


def _scheduler(processes: ExitStack, folder: Path) -> str:
    """Start a scheduler, and return its address."""
    where = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", where)
    _start(processes, "dask_scheduler", *options)
    _wait(where.exists, "the scheduler does not start")
    return str(json.loads(where.read_text())["address"])


def _options(address: str, scratch: Path) -> tuple[str | Path, ...]:
    return (address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", scratch)


@pytest.mark.nightly
def test_workers_that_are_cut_off_or_cannot(tmp_path: Path, processes: ExitStack) -> None:
    """What comes back after its lease has ended changes nothing; where namespaces are forbidden nothing is run."""
    spec, study = main_only(write_spec(tmp_path, blocks=2)), tmp_path / "study"
    address = _scheduler(processes, tmp_path)
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces"
    forbidden = ("unshare", "--user", "--map-root-user", "sh", "-c", f'{forbid}; exec "$@"', "sh")
    for before in (forbidden, (), ()):
        _start(processes, "dask_worker", *_options(address, tmp_path / "scratch"), before=before)
    running = start_quiclab("run", spec, "--dask", address, "--without-tls", "--out", study, "--no-report")
    cut_off = _at_work(study)
    os.kill(cut_off, signal.SIGSTOP)
    _wait(lambda: "lost" in {outcome for _, _, outcome in _leases(study)}, "nobody misses the worker")
    os.kill(cut_off, signal.SIGCONT)
    told, _ = running.communicate(timeout=_PATIENCE_S)
    assert running.returncode == 0, told
    assert _as_planned(spec, study)
    _lost_once_and_merged(study)
    (refused,) = (line for line in told.splitlines() if "gets no blocks" in line)
    assert "namespaces" in refused
    assert not any(worker in refused for _, worker, _ in _leases(study))


@pytest.mark.nightly
def test_a_worker_whose_blocks_end_in_errors(tmp_path: Path, processes: ExitStack) -> None:
    """It is named and left out, and where no other is there the run ends with one error, to go on later."""
    spec, study, scratch = main_only(write_spec(tmp_path, blocks=3)), tmp_path / "study", tmp_path / "scratch"
    address = _scheduler(processes, tmp_path)
    _start(processes, "dask_worker", *_options(address, scratch))
    running = start_quiclab("run", spec, "--dask", address, "--without-tls", "--out", study, "--no-report")
    _wait(lambda: _leases(study), "no block is granted")
    shutil.rmtree(scratch, ignore_errors=True)
    told, _ = running.communicate(timeout=_PATIENCE_S)
    assert running.returncode == 3, told
    assert "2 blocks in a row ended in an error" in " ".join(told.split())
    assert "quiclab: no worker is left that takes blocks, and 3 of 3 are to be run" in told
    assert "Traceback" not in told
    assert [outcome for _, _, outcome in _leases(study)] == ["failed", "failed"]
    assert trials(study) == []


_AS_SOMEBODY_ELSE = """
import sys
from distributed import Client
from distributed.security import Security
other = Security.temporary() if sys.argv[2] == "certificate" else None
try:
    with Client(sys.argv[1], timeout=5, security=other) as client:
        print("got in", client.run_on_scheduler(lambda: 1), client.run(lambda: 1))
except Exception as error:
    print("refused", type(error).__name__)
"""


@pytest.mark.parametrize("has", ["certificate", *by_night("nothing")])
def test_nobody_else_of_this_machine_may_use_the_workers(tmp_path: Path, has: str) -> None:
    """Neither scheduler nor worker takes a client that has no certificate of this run, and they listen here alone."""
    with connected("local:1", tmp_path / "scratch") as cluster:
        _wait(cluster.workers, "no worker comes")
        (worker,) = cluster.workers()
        task = cluster.ask(worker, "allowed", os.getpid)
        _wait(lambda: task.is_over, "the worker does not answer")
        ports = [int(where.rpartition(":")[2]) for where in (cluster.scheduler_address, worker)]
        for port in ports:
            for protocol in ("tls", "tcp"):
                asked = [sys.executable, "-W", "ignore", "-c", _AS_SOMEBODY_ELSE, f"{protocol}://127.0.0.1:{port}", has]
                told = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
                assert told.stdout.startswith("refused"), told.stdout + told.stderr
        processes = {os.getpid(), task.answer(), os.getsid(task.answer())}
        assert _listened_to(processes) == {"127.0.0.1"}


def _listened_to(processes: set[int]) -> set[str]:
    """Addresses at which some processes take connections."""
    listening = psutil.net_connections("tcp")
    return {each.laddr.ip for each in listening if each.status == psutil.CONN_LISTEN and each.pid in processes}


def _lost_once_and_merged(study: Path) -> None:
    """Check that the first lease was lost, and that every block was merged once."""
    leases = _leases(study)
    assert leases[0][2] == "lost"
    assert sorted(block for block, _, outcome in leases if outcome == "merged") == sorted({each[0] for each in leases})


def test_a_result_counts_once_and_under_the_newest_lease(tmp_path: Path) -> None:
    """A result that comes late, again, or for another block is refused, and leaves nothing."""
    spec = main_only(write_spec(tmp_path, blocks=2))
    study, study_dir = read_study(spec), StudyDir(tmp_path / "study")
    one, other = ([row for row in make_plan(study) if row.block == block] for block in (0, 1))
    run_study(spec, tmp_path / "part", part=Part(block_id=one[0].block_id))
    packed = pack(tmp_path / "part", "part")
    with held(study_dir, spec, study), open_ledger(study_dir) as ledger:
        ledger.plan([*one, *other])
        leases, results = ledger.leases, Results(study_dir, ledger)
        first = leases.grant(one[0].block_id, "a")
        newer = leases.grant(one[0].block_id, "b")
        of_other = leases.grant(other[0].block_id, "c")
        assert "not the newest" in str(results.take_in(first, first.fence, packed, "a", one))
        assert "not the newest" in str(results.take_in(first, newer.fence + 100, packed, "a", one))
        assert "does not plan" in str(results.take_in(of_other, of_other.fence, packed, "c", other))
        assert ledger.attempts() == {}
        assert results.take_in(newer, newer.fence, packed, "b", one) is None
        assert ledger.attempts().keys() == {row.trial_id for row in one}
        assert "has ended" in str(results.take_in(newer, newer.fence, packed, "b", one))
        assert not ledger.damaged()
    assert not (study_dir.root / ".parts").exists()


def test_a_plain_run_goes_on_where_a_coordinator_was_killed_while_it_merged(tmp_path: Path) -> None:
    """The block's other trial is that of the worker, although the run is asked for other blocks alone."""
    spec, study = main_only(write_spec(tmp_path, blocks=2)), tmp_path / "study"
    last = [row for row in make_plan(read_study(spec)) if row.block == 1]
    run_study(spec, tmp_path / "part", part=Part(block_id=last[0].block_id))
    sent = {each["trial_id"]: each["started_utc"] for each in trials(tmp_path / "part")}
    study_dir = StudyDir(study)
    with held(study_dir, spec, read_study(spec)), open_ledger(study_dir) as ledger:
        ledger.plan(last)
        lease = ledger.leases.grant(last[0].block_id, "vm")
        whole = study / ".parts" / str(lease.fence) / "vm"
        shutil.copytree(tmp_path / "part", whole)
        host = json.loads((whole / "host.json").read_text())
        study_dir.host.write_text(json.dumps(host))
    done = quiclab("run", spec, "--out", study, "--no-report", "--blocks", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert _as_planned(spec, study)
    kept = {each["trial_id"]: each["started_utc"] for each in trials(study)}
    assert sent.items() <= kept.items()
    assert [outcome for *_, outcome in _leases(study)] == ["merged"]
    assert not (study / ".parts").exists()
