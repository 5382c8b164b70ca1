# SPDX-License-Identifier: Apache-2.0
"""Cost of a trial beside its transfer, and where it goes; beside a script that runs the same programs by hand.

Overhead = from the start of a trial to the start of the next, minus the client's own time from start to last byte.
The script, in one namespace: start the server, wait for its sockets, start the client, wait for it, stop the server. It
has no link, no logs, no warm-up, no verdict, and starts one thing after the other.

Processor time is that of a whole study, less that of one with a single pair: what a run costs once drops out. Kept
trials are judged again to tell what of it that costs.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from _bench import Row, child_cpu_seconds, cpu_seconds, is_quick, print_table
from live_link import in_sandbox
from plain_captures import capture_at
from small_study import QUICLAB, main_only, quiclab, trials, with_plain_logs, write_spec

from quiclab.lab.endpoints import Context, find
from quiclab.lab.testbed.certificates import HOST, make_certificates
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.model.study import Certificate, Program
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.store.record_form import as_trial
from quiclab.study.trial import judge_attempt
from quiclab.study.trial_tables import keep_tables

TARGET_MS = 300
CPU_TARGET_MS = 150
_CPU_SIZE = "1 MB"
_PROTOCOLS = ("h2", "h3")
SCRIPT = "script"
_ADDRESS, _PORT = "127.0.0.1", 8443
_MS = 1e6


def transfer_ns(client: dict[str, Any]) -> int:
    """The client's own time, from its start to the last byte."""
    return int(client["requests"][-1]["last_byte_ns"] - client["requests"][0]["start_ns"])


def study_overheads(blocks: int) -> list[dict[str, float]]:
    """Milliseconds by phase and in `all`, one for each trial of a small study but the last."""
    with tempfile.TemporaryDirectory() as name:
        spec = write_spec(Path(name), size="20 KB", blocks=blocks)
        run = quiclab("run", spec, "--out", Path(name, "study"), "--no-report")
        found = sorted(trials(Path(name, "study")), key=lambda trial: trial["started_monotonic_ns"])
    if run.returncode != 0 or len(found) < 2:
        raise RuntimeError(f"the study did not run: {run.stdout}{run.stderr}")
    overheads = []
    for trial, following in itertools.pairwise(found):
        phases = dict(trial["time_ns"])
        own = transfer_ns(trial["client"])
        whole = following["started_monotonic_ns"] - trial["started_monotonic_ns"]
        phases["judge, move in, ledger"] = whole - sum(phases.values())
        phases["transfer"] -= own
        overheads.append({phase: ns / _MS for phase, ns in phases.items()} | {"all": (whole - own) / _MS})
    return overheads


def script_overhead_ms(protocol: str, folder: Path) -> float:
    """One download by hand; inside a sandbox."""
    certificates = make_certificates(folder / "tls", (_ADDRESS,), {Certificate()})[Certificate()]
    (folder / "object").write_bytes(bytes(20_000))
    context = {"address": _ADDRESS, "port": _PORT, "host": HOST, "object_name": "object", "ip_version": 4}
    context |= {"protocols": (protocol,), "work_dir": folder, "root": folder, "qlog_dir": None, "keylog": None}
    context |= {"session_file": folder / "session"}
    context |= {"certificate": certificates.certificate, "key": certificates.key, "ca": certificates.ca}
    parts = {"server": Program("caddy"), "client": Program("curl-cffi")}
    with NetworkNamespace() as namespace:
        start = time.monotonic_ns()
        running = {}
        for part, program in parts.items():
            output = folder / f"{part}.json"
            command = find(part, program.name).command(Context(program=program, output=output, **context))
            for file, content in command.files.items():
                file.write_text(content)
            running[part] = Process(
                part,
                command.argv,
                command.env,
                namespace,
                work_dir=folder,
                output=folder / f"{part}.out",
                waits_for_go=command.waits_for_go,
            )
        with running["server"] as server:
            server.wait_for_sockets(_PORT, ("tcp", "udp"), 10)
            with running["client"] as client:
                client.go()
                if client.wait(10) != 0:
                    raise RuntimeError(client.last_words())
        whole = time.monotonic_ns() - start
    return (whole - transfer_ns(json.loads((folder / "client.json").read_text()))) / _MS


def script_overheads(rounds: int) -> list[float]:
    """One per protocol and round."""
    with tempfile.TemporaryDirectory() as name:
        return [script_overhead_ms(protocol, Path(name)) for _ in range(rounds) for protocol in _PROTOCOLS]


def processor_ms(blocks: int) -> dict[str, float]:
    """Milliseconds of processor time of a trial beside its transfer in `all`, and by what they go into."""
    with tempfile.TemporaryDirectory() as name:
        used = {}
        for number in (1, 1 + blocks):
            folder = Path(name, str(number))
            folder.mkdir()
            spec = main_only(write_spec(folder, size=_CPU_SIZE, blocks=number))
            used[number] = 1e3 * child_cpu_seconds([QUICLAB, "run", spec, "--out", folder / "study", "--no-report"])
        study = Path(name, str(1 + blocks), "study")
        found = trials(study)
        whole = (used[1 + blocks] - used[1]) / (2 * blocks)
        of = {(role, scope): _used_ms(found, role, scope) for role in ("server", "client") for scope in _SCOPES}
        judging = statistics.mean(_judging_ms(study, trial["trial_id"]) for trial in found)
    beside = {role: of[role, "life"] - of[role, "transfer"] for role in ("server", "client")}
    transfer = of["server", "transfer"] + of["client", "transfer"]
    rest = whole - transfer - sum(beside.values()) - judging
    told = {f"{role}'s start and end": ms for role, ms in beside.items()}
    return {"all": whole - transfer, **told, "judging, tables": judging, "warm-up, link, steps": rest}


_SCOPES = ("life", "transfer")


def _used_ms(found: list[dict[str, Any]], role: str, scope: str) -> float:
    """Mean processor time of one program in its life, or in the transfer."""
    return statistics.mean(trial["host"]["cost"][role][scope]["cpu_ns"] for trial in found) / _MS


def _judging_ms(study: Path, trial_id: str) -> float:
    """Processor time of judging a kept trial a second time, in a process that has judged one before."""

    def judge() -> None:
        judged = judge_attempt(attempt, trial_id, 1)
        keep_tables(StudyDir(again), trial_id, judged.tables, as_trial(read_object(attempt / "trial.json")))

    took = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as name:
            attempt, again = Path(name, "attempt"), Path(name, "study")
            shutil.copytree(study / "trials" / trial_id, attempt)
            with_plain_logs(attempt)
            capture_at(attempt / "raw", "server")
            again.mkdir()
            StudyDir(again).tables.mkdir()
            took.append(1e3 * cpu_seconds(judge))
    return took[-1]


def main() -> None:
    """Measure and print."""
    rounds, blocks = (1, 3) if is_quick(__doc__) else (3, 4)
    ours: list[dict[str, float]] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours += study_overheads(blocks)
        theirs += in_sandbox(lambda: script_overheads(blocks))
    whole = [each["all"] for each in ours]
    median = statistics.median(whole)
    ratio = median / statistics.median(theirs)
    rows = [
        Row("overhead of a trial", whole, "ms", SCRIPT, ratio, f"<= {TARGET_MS} ms", median <= TARGET_MS),
        Row("overhead of a script", theirs, "ms"),
        *(Row(f"  {phase}", [each[phase] for each in ours], "ms") for phase in ours[0] if phase != "all"),
    ]
    print_table(f"Overhead per trial: 20 KB at 20 Mbit/s, 5 ms each way, {len(ours)} trials", rows)
    used = [processor_ms(2 * blocks) for _ in range(rounds)]
    median = statistics.median(each["all"] for each in used)
    target = (f"<= {CPU_TARGET_MS} ms", median <= CPU_TARGET_MS)
    rows = [
        Row("processor time of a trial", [each["all"] for each in used], "ms", "", None, *target),
        *(Row(f"  {what}", [each[what] for each in used], "ms") for what in used[0] if what != "all"),
    ]
    title = f"Processor time beside the transfer: {_CPU_SIZE} at 20 Mbit/s, {4 * blocks} trials a round"
    print_table(title, rows)


if __name__ == "__main__":
    main()
