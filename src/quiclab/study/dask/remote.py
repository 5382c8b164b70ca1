# SPDX-License-Identifier: Apache-2.0
"""Tasks of a cluster's worker. Arguments and answers are plain values, so that workers with another version of quiclab
can at least say so."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from quiclab import __version__
from quiclab.model.errors import QuiclabError
from quiclab.plan.part import Part
from quiclab.processes import EndedByMachineError, in_fresh_process
from quiclab.store.archive import pack
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir

_ONE_AT_A_TIME = threading.Lock()
"""Held while a block runs: a worker with several threads would be its own noisy neighbour."""

_EXAMINATIONS = 3
"""Times that a machine is looked at, where the process that looks is killed."""


def examine(files: Mapping[str, bytes], backend: str | None) -> dict[str, object]:
    """Try whether this machine can run trials of a study: what `quiclab doctor` tries, and the study's programs."""
    told: dict[str, object] = {"quiclab": __version__, "machine": socket.gethostname(), "left_s": _left_s()}
    for tries_left in reversed(range(_EXAMINATIONS)):
        with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            try:
                return told | in_fresh_process(_examine, (_laid_out(files, Path(scratch)), backend))
            except QuiclabError as error:
                told["problems"] = [_sentence(error)]
                if not (tries_left and isinstance(error, EndedByMachineError)):
                    break
    return told


def run_block(
    files: Mapping[str, bytes], block_id: str, backend: str | None, keep_raw: str, fence: int
) -> tuple[int, bytes, str]:
    """Run one block, as `quiclab run` does, in a folder of its own. Returns the lease's fence, the folder as an
    archive, and, where there is none, what went wrong."""
    from quiclab.study.run import run_study

    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
        folder = _laid_out(files, Path(scratch))
        try:
            run_study(folder, folder, backend=backend, keep_raw=keep_raw, part=Part(block_id=block_id))  # type: ignore[arg-type]
        except QuiclabError as error:
            return fence, b"", _sentence(error)
        shutil.rmtree(folder / "tls", ignore_errors=True)  # private keys of this folder's servers, of no use elsewhere
        return fence, pack(folder, "part"), ""


def stop_at_once() -> None:
    """End the block that runs here: nobody waits for it any more."""
    import psutil

    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any("quiclab.processes" in word for word in child.cmdline()):
                child.terminate()


def _examine(asked: tuple[Path, str | None]) -> dict[str, object]:
    """Look at this machine, in a process without threads."""
    from quiclab.lab.testbed.machine import NEEDED, machine_findings
    from quiclab.study.run import told_by_the_sandbox
    from quiclab.study.specs import held, load_study

    folder, wanted = asked
    missing = [each for each in machine_findings() if each.state == "missing" and each.name in NEEDED]
    if missing:
        return {"problems": [f"{each.name}: {each.detail} ({each.remedy})" for each in missing]}
    study_dir = StudyDir(folder)
    study = load_study(study_dir.spec)
    with held(study_dir, study_dir.spec, study):

        def examine_machine() -> dict[str, str]:
            from quiclab.lab.testbed.backend import choose_backend
            from quiclab.study.trials import keep_host, with_own_servers

            backend = wanted or choose_backend()[0]
            laboratory, _ = with_own_servers(study, study_dir.root, backend)  # type: ignore[arg-type]
            keep_host(study_dir, laboratory, backend)  # type: ignore[arg-type]
            return dict(laboratory.cannot_run)

        cannot_run = told_by_the_sandbox(study_dir, examine_machine)
    return {"problems": [], "host": read_object(study_dir.host), "cannot_run": cannot_run}


def _laid_out(files: Mapping[str, bytes], scratch: Path) -> Path:
    folder = scratch / "study"
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


def _scratch() -> str:
    """Folder of this worker, which goes with it."""
    from distributed import get_worker

    return str(get_worker().local_directory)


def _left_s() -> float | None:
    """Seconds until this worker will end, by `dask worker --lifetime` or by Slurm's walltime."""
    import psutil
    from distributed import get_worker

    slurm = os.environ.get("SLURM_JOB_END_TIME", "")
    ends = [float(slurm)] if slurm.isdecimal() else []
    if lifetime := get_worker().lifetime:
        ends.append(psutil.Process().create_time() + lifetime)
    return min(ends) - time.time() if ends else None


def _sentence(error: QuiclabError) -> str:
    return "; ".join(filter(None, (error.message, *error.problems, error.hint)))
