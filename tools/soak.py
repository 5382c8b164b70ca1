# SPDX-License-Identifier: Apache-2.0
"""Soak: kill every kind of process and merges at random instants, fill the disk, copy the ledger while it is written.

`make soak MINUTES=5`, or `make soak MINUTES=60 KILLS=200` for so many kills within that time. Prints figures as
Markdown; ends with 1 where anything was lost, doubled or half written. Needs what `quiclab run` needs. Every round is a
small study of its own in a temporary folder.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from soak_study import attempts, contents, documents

QUICLAB = str(Path(sys.executable).with_name("quiclab"))
SPEC = """\
[study]
name = "soak"
seed = {seed}
blocks = 2
aa = {{ workload = "object", path = "plain", blocks = 1 }}
[limits]
disturbance = "100 %"
attempts = 9
[[workload]]
name = "object"
size = "200 KB"
[[path]]
name = "plain"
rate = "10 Mbit/s"
delay = "5 ms"
[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = {{ congestion_control = "reno", initial_window = 32 }}
[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = "caddy"
"""
TRIALS = 8
KINDS = ("caller", "keeper", "first process", "link", "server", "client", "warm-up client", "report", "any process")
SIDE_BY_SIDE = ("--jobs", "3")
"""Options of every other run: there are workers and judges then, and "any process" may be one of them."""
RULES = ("all", "failures", "pairs:1", "200KB", "none")
"""Rules of --keep-raw, one for each study."""
_MARKS = {"link": "quiclab-link", "server": "caddy run", "client": "_curl_cffi_program.py", "warm-up client": "/warm"}
_PATIENCE_S = 120


class Soak:
    """The rounds and what they found."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)  # noqa: S311 - instants, no secrets
        self.kills: collections.Counter[str] = collections.Counter()
        self.count: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.rule = "all"

    def check(self, holds: bool, told: str) -> None:
        """Keep what does not hold."""
        if not holds:
            self.wrong.append(told)
            print(f"WRONG: {told}", file=sys.stderr, flush=True)

    def round(self) -> None:
        """One study: run and killed some times, continued, judged; then its disk is filled."""
        self.count["studies"] += 1
        home = self.folder / str(self.count["studies"])
        home.mkdir()
        (home / "spec.toml").write_text(SPEC.format(seed=self.random.randrange(10**6)))
        study = home / "study"
        self.rule = self.random.choice(RULES)
        finished: dict[str, str] = {}
        for _ in range(self.random.randint(1, 4)):
            finished = self.killed(home, study, finished)
        with copies_of_the_ledger(self, study) as torn:
            code, told = quiclab(*self.run_of(home, study))
        self.check(code == 0, f"the study was not completed: {code}: {told[-400:]}")
        self.whole(study, finished)
        for copy in torn:
            self.torn_copy(home, study, copy)
        self.full_disk(home, study)
        self.merges(home)
        shutil.rmtree(home)

    def run_of(self, home: Path, study: Path) -> list[str | Path]:
        """A command that runs the study, or goes on with it."""
        jobs = SIDE_BY_SIDE if self.random.random() < 0.5 else ()
        return ["run", home / "spec.toml", "--out", study, "--keep-raw", self.rule, *jobs]

    def killed(self, home: Path, study: Path, finished: dict[str, str]) -> dict[str, str]:
        """Start a run, or a report, end one of its processes, and see what is there."""
        kind = self.random.choice(KINDS)
        report = kind == "report" and (study / "ledger.sqlite").exists()
        verb: list[str | Path] = ["report", study] if report else self.run_of(home, study)
        run = start(*verb)
        victim = wait_for(run, kind, self.random)
        if victim is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                self.kills[f"{kind} side by side" if SIDE_BY_SIDE[0] in verb else kind] += 1
        if kind in _MARKS or kind == "any process":  # the study goes on by itself: end it a little later
            time.sleep(self.random.uniform(0, 1.5))
            run.kill()
        try:
            told, _ = run.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            run.kill()
            told, _ = run.communicate()
            self.check(False, f"a run did not end after a kill of the {kind}")
        self.check("Traceback" not in told, f"a traceback after a kill of the {kind}: {told[-600:]}")
        deadline = time.monotonic() + 20
        while (left := processes_of(study)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.check(not left, f"processes live on after a kill of the {kind}: {left}")
        self.check(finished.items() <= attempts(study), f"a finished trial was lost after a kill of the {kind}")
        return documents(study)

    def whole(self, study: Path, finished: dict[str, str]) -> None:
        """Ledger, plan, folders and tables say the same."""
        now = documents(study)
        self.check(finished.items() <= attempts(study), "a finished trial was lost, or run again without need")
        if not (study / "ledger.sqlite").exists():
            raise SystemExit("no study can be run here: see above")
        with contextlib.closing(sqlite3.connect(study / "ledger.sqlite")) as ledger:
            self.check(ledger.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the ledger is damaged")
            verified = {each for (each,) in ledger.execute("SELECT trial_id FROM attempts WHERE status = 'verified'")}
            planned = {each for (each,) in ledger.execute("SELECT trial_id FROM trials")}
        self.check(verified == planned == set(now), "plan, ledger and folders differ")
        self.check(len(now) == TRIALS, f"{len(now)} trials instead of {TRIALS}")
        self.tables(study)
        self.artefacts(study)
        left = [str(path) for place in ("trials", "failed") for path in (study / place).glob(".*")]
        self.check(not left, f"left behind: {left}")
        self.count["trials"] += len(now)

    def tables(self, study: Path) -> None:
        """Every table is whole, and is there of every trial."""
        for table in (each for each in (study / "tables").iterdir() if each.is_dir() and each.name != "har"):
            for trial in documents(study):
                file = table / f"{trial}.parquet"
                whole = file.is_file() and file.read_bytes()[-4:] == b"PAR1"
                self.check(whole, f"half a table counts as whole: {file}")
                self.count["tables looked at"] += 1

    def artefacts(self, study: Path) -> None:
        """Every file that a trial registers is there, whole; there is no other, and none where none is to be kept."""
        for file in (each for each in study.glob("*/[!.]*/trial.json") if "-aside" not in each.parent.name):
            registered = {each["path"]: each["bytes"] for each in json.loads(file.read_text())["artefacts"]}
            raw = (each for each in (file.parent / "raw").rglob("*") if each.is_file())
            there = {str(each.relative_to(file.parent)): each.stat().st_size for each in raw}
            self.check(there == registered, f"files of {file.parent} are not those that it registers")
            self.check(self.rule != "none" or not there, f"{file.parent} has logs that were not to be kept")
            self.count["logs and captures looked at"] += len(there)

    def torn_copy(self, home: Path, study: Path, ledger: bytes) -> None:
        """Restore a copy that was taken while SQLite wrote: it is told, and the trials are adopted without it."""
        self.count["of them torn"] += 1
        place = home / "restored"
        shutil.copytree(study, place)
        (place / "ledger.sqlite").write_bytes(ledger)
        code, told = quiclab("run", place)
        self.check(code in (0, 4) and "Traceback" not in told, f"a torn copy of the ledger: {code}: {told[-400:]}")
        if code == 4:
            (place / "ledger.sqlite").unlink()
            code, told = quiclab("run", place)
            self.check(code == 0, f"without a torn copy of the ledger: {code}: {told[-400:]}")
        self.whole(place, documents(study))
        shutil.rmtree(place)

    def full_disk(self, home: Path, study: Path) -> None:
        """Report on a disk with little room; told, and healed by the same command with more room."""
        needed = sum(file.stat().st_size for file in study.rglob("*") if file.is_file())
        size = needed + self.random.randrange(-needed // 8, needed // 8)
        place = home / "disk"
        place.mkdir()
        # Tables can be made again only of logs.
        again = self.rule == "all" and self.random.random() < 0.5
        tables = "rm -rf place/tables place/metrics.parquet place/report*" if again else "true"
        script = (
            f"set -u; mount -t tmpfs -o size=512m none {place}; cp -r {study}/. {place}/; "
            f"cd {home}; {tables.replace('place', str(place))}; "
            f"mount -o remount,size={size} {place} 2>/dev/null || mount -o remount,size={needed + 65536} {place}; "
            f"{QUICLAB} report {place}; echo code $?; mount -o remount,size=512m {place}; "
            f"{QUICLAB} run {place}; echo code $?; cp -r {place}/. {home}/healed/"
        )
        (home / "healed").mkdir()
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
            capture_output=True, text=True, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
        codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("code ")]
        self.count["disks filled"] += 1
        told = (done.stdout + done.stderr)[-600:]
        self.check("Traceback" not in done.stdout + done.stderr, f"a traceback on a full disk: {told}")
        self.check(len(codes) == 2 and codes[0] in (0, 3) and codes[1] == 0, f"a full disk: {codes}: {told}")
        self.count["of them too small"] += codes[:1] == [3]
        self.check(documents(home / "healed") == documents(study), "a full disk lost a trial")
        self.tables(home / "healed")

    def merges(self, home: Path) -> None:
        """Merge two shards of a study under kills: the whole is what a merge without any makes of them."""
        parts, one, other = [home / "part1", home / "part2"], home / "at-once", home / "merged"
        for number, part in enumerate(parts, 1):
            code, told = quiclab("run", home / "spec.toml", "--shard", f"{number}/2", "--out", part)
            self.check(code == 0, f"a shard was not completed: {code}: {told[-400:]}")
        before = [contents(part) for part in parts]
        for _ in range(self.random.randint(1, 6)):
            run = start("merge", other, *parts)
            time.sleep(self.random.uniform(0.2, 2))
            if run.poll() is None:
                run.kill()
                self.kills["merge"] += 1
            told = run.communicate(timeout=_PATIENCE_S)[0]
            self.check("Traceback" not in told, f"a traceback after a kill of a merge: {told[-600:]}")
        for whole in (one, other):
            code, told = quiclab("merge", whole, *parts)
            self.check(code == 0, f"a merge was not completed: {code}: {told[-400:]}")
        differ = sorted({name for name, _ in contents(one).items() ^ contents(other).items()})
        self.check(not differ, f"a merge that was killed differs from one that was not: {differ[:6]}")
        self.check([contents(part) for part in parts] == before, "a merge changed a shard")


@contextlib.contextmanager
def copies_of_the_ledger(soak: Soak, study: Path) -> Iterator[list[bytes]]:
    """Copy it every 50 ms as a backup would: its counts never fall. A copy of a file that SQLite writes to may have one
    page of before and another of after (SQLite, "How To Corrupt An SQLite Database File", section 1.2): those come out
    at the end."""
    over = threading.Event()
    torn: list[bytes] = []

    def copy() -> None:
        most = attempts = 0
        while not over.wait(0.05):
            target = study.parent / "copy.sqlite"
            try:
                shutil.copyfile(study / "ledger.sqlite", target)
                with contextlib.closing(sqlite3.connect(target)) as ledger:
                    sound = ledger.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                    attempts = ledger.execute("SELECT count(*) FROM attempts").fetchone()[0]
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    continue  # it has just been begun
                sound = False
            except sqlite3.DatabaseError:
                sound = False
            except OSError:
                continue
            soak.count["copies of a ledger in use"] += 1
            if sound:
                soak.check(attempts >= most, "attempts have vanished from the ledger")
                most = max(most, attempts)
            else:
                torn.append(target.read_bytes())

    thread = threading.Thread(target=copy)
    thread.start()
    try:
        yield torn
    finally:
        over.set()
        thread.join()


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """`quiclab`, in a session of its own."""
    return subprocess.Popen(
        [QUICLAB, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def quiclab(*arguments: str | Path) -> tuple[int, str]:
    """To its end: code and output."""
    run = start(*arguments)
    told, _ = run.communicate(timeout=_PATIENCE_S)
    return run.returncode, told


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
    return found


def wait_for(run: subprocess.Popen[str], kind: str, chance: random.Random) -> int | None:
    """The process to end, at a random instant of its life; None where the run is over before."""
    if kind in ("caller", "keeper", "first process", "report"):
        time.sleep(chance.uniform(0.2, 6))
        line = family(run.pid)
        number = {"caller": 0, "report": 0, "keeper": 1, "first process": 2}[kind]
        return line[number] if run.poll() is None and len(line) > number else None
    if kind == "any process":
        time.sleep(chance.uniform(0.2, 8))
        line = family(run.pid)
        return chance.choice(line) if run.poll() is None else None
    skip, seen = chance.randrange(3), set[int]()
    deadline = time.monotonic() + 15
    while run.poll() is None and time.monotonic() < deadline:
        for pid in family(run.pid):
            line_of = command_line(pid)
            if _MARKS[kind] in line_of and "nsenter" not in line_of and (kind != "client" or "/warm" not in line_of):
                seen.add(pid)
                if len(seen) > skip:
                    time.sleep(chance.uniform(0, 0.3))
                    return pid
        time.sleep(0.005)
    return None


def command_line(pid: int) -> str:
    """Command line of a process, with spaces; "" if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def processes_of(study: Path) -> list[str]:
    """Command lines of this machine that name the study."""
    lines = [command_line(int(each.name)) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [line for line in lines if str(study) in line]


def main() -> int:
    """Rounds until the time is over; the figures."""
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--kills", type=int, help="end after so many kills, if that is sooner")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory(prefix="quiclab-soak-") as folder:
        soak = Soak(Path(folder), arguments.seed)
        while time.monotonic() < end and (arguments.kills is None or soak.kills.total() < arguments.kills):
            soak.round()
    print(f"{arguments.minutes:g} minutes, seed {arguments.seed}, quiclab on {os.cpu_count()} processors\n")
    print("| what | number |\n|---|---|")
    kills = ", ".join(f"{kind} {number}" for kind, number in sorted(soak.kills.items()))
    print(f"| kills (SIGKILL) | {sum(soak.kills.values())}: {kills} |")
    for what, number in soak.count.items():
        print(f"| {what} | {number} |")
    print(f"| **wrong** | **{len(soak.wrong)}** |")
    for told in soak.wrong:
        print(f"| | {' '.join(told.split())} |")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
