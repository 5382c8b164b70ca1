# SPDX-License-Identifier: Apache-2.0
"""`quiclab bundle`: one block of a study as one archive that opens, and replays, elsewhere."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from quiclab.cli.voice import add_quiet
from quiclab.model.errors import DecodeError, ExitCode, SpecError, nearest
from quiclab.model.number_text import listed
from quiclab.store.archive import pack
from quiclab.store.disk import disk_errors, need_readable, read_object, write_atomically
from quiclab.store.layout import StudyDir, logs_left_out
from quiclab.store.ledger import Ledger, borrowed_ledger, open_ledger
from quiclab.store.no_study import need_ledger
from quiclab.store.remarks import read_remarks, write_remarks
from quiclab.store.secrets import take_keys_out

_DESCRIPTION = """\
Pack one block of a study: its trials with all attempts and logs, the spec, the plan's rows, the machine and the
versions, the tables, and a report of that block alone. The same block makes the same bytes.

TLS keys, session tickets and the decryption secrets in captures stay out, unless you say --with-keys: with them,
all that was transferred can be read. Unpacked, the folder is a study for `quiclab report`, `quiclab figure` and
`quiclab.open`; `quiclab run FOLDER/spec.toml --out AGAIN` runs that block again, with the same seed.
"""

_EPILOG = """\
examples:
  quiclab bundle studies/demo 1MB/loss:3          block 3 of a cell
  quiclab bundle studies/demo 92a54b225e319a74    by its id, or by that of a trial
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "bundle",
        help="pack one block of a study into an archive",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("block", metavar="BLOCK", help="WORKLOAD/PATH:NUMBER, or the id of the block or of a trial")
    parser.add_argument("--with-keys", action="store_true", help="pack keys and session tickets, too")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="the archive (default: STUDY-BLOCK.tar.gz, here)"
    )
    parser.add_argument("--force", action="store_true", help="replace an archive that is there")
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises DecodeError for a folder that holds no study, SpecError for a block that it has not."""
    study_dir = StudyDir(arguments.study.resolve())
    need_ledger(study_dir)
    with study_dir.undisturbed(), borrowed_ledger(study_dir) as ledger, tempfile.TemporaryDirectory() as draft:
        rows = _rows_of(ledger, arguments.block)
        resolved = read_object(study_dir.resolved)
        name = f"{resolved.get('name')}-{rows[0]['block_id']}"
        if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
            raise DecodeError(f"{study_dir.resolved} names the study or its block {name!r}", "it is not a valid name")
        target = arguments.out or Path(f"{study_dir.root.name}-{rows[0]['block_id']}.tar.gz")
        if target.is_dir():
            hint = f"name the archive's file with -o, such as {name}.tar.gz"
            raise SpecError(f"{target} is a folder, and an archive is one file", hint)
        if target.exists() and not arguments.force:
            raise SpecError(f"{target} exists", "choose another file with -o, or add --force")
        folder = StudyDir(Path(draft, name))
        with disk_errors(folder.root, "the study is untouched"):
            trials = _collect(study_dir, ledger, rows, folder)
        bare = [trial for trial in trials if logs_left_out(trial)]
        _analyse(folder)
        left_out = () if arguments.with_keys else take_keys_out(trials)
        packed, mode = pack(folder.root, name), 0o600 if arguments.with_keys else None
        write_atomically(target, packed, mode=mode, kept="the study is untouched", option="-o")
    for line in left_out:
        print(line)
    keys = "with keys: who has it can read the captures" if arguments.with_keys else "without keys"
    without = f", {len(bare)} of them without logs (--keep-raw)" if bare else ""
    print(f"{target}: block {rows[0]['block']} of {rows[0]['cell_id']}, {len(trials)} trials{without}, {keys}")
    return ExitCode.OK


def _rows_of(ledger: Ledger, asked: str) -> list[dict[str, object]]:
    """The plan's rows of the block. Raises SpecError where there is none, or no trial of it."""
    rows = ledger.rows()
    cell, _, number = asked.rpartition(":")
    found = [
        row
        for row in rows
        if asked == row["block_id"] or (cell and row["cell_id"] == cell and str(row["block"]) == number)
    ]
    if not found:
        blocks = {row["block_id"] for row in rows if row["trial_id"] == asked}
        found = [row for row in rows if row["block_id"] in blocks]
    if not found:
        raise SpecError(f"the study has no block {asked!r}", _what_there_is(rows, cell or asked))
    tried = ledger.attempts()
    if not any(row["trial_id"] in tried for row in found):
        raise SpecError(f"block {asked!r} has not been run", "run it first: quiclab run")
    return found


def _what_there_is(rows: list[dict[str, Any]], cell: str) -> str:
    """A hint: the blocks of a cell that there is, else the nearest cell."""
    blocks = sorted({row["block"] for row in rows if row["cell_id"] == cell})
    if blocks:
        gaps = blocks[-1] - blocks[0] >= len(blocks)  # a shard has every so many
        told = listed([str(each) for each in blocks]) if gaps else f"{blocks[0]} to {blocks[-1]}"
        return f"{cell} has the blocks {told}: write {cell}:{blocks[0]}"
    cells = sorted({str(row["cell_id"]) for row in rows})
    return nearest(cell, cells, "write CELL:NUMBER with one of the cells")


def _collect(source: StudyDir, ledger: Ledger, rows: list[dict[str, Any]], folder: StudyDir) -> list[Path]:
    """Copy what belongs to the block; the folders of its trials."""
    from quiclab.model.plan_row import PlanRow
    from quiclab.study.specs import load_study, traces_of

    folder.create()
    for file in (source.host, source.resolved):
        if file.exists():
            shutil.copyfile(file, folder.root / file.name)
    only = rows[0]["block_id"]
    study = load_study(source.spec)  # a spec that cannot be read is told by it
    folder.spec.write_text(only_block(source.spec.read_text("utf-8-sig"), only))
    resolved = read_object(source.resolved) | {"only_blocks": [only]}
    folder.resolved.write_text(json.dumps(resolved, indent=1))
    for trace in traces_of(study):
        if trace.is_relative_to(source.root):
            target = folder.root / trace.relative_to(source.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(trace, target)
    (folder.root / "plan.json").write_text(json.dumps(rows, indent=1))
    trials = []
    with open_ledger(folder) as own:
        own.plan([PlanRow(**row) for row in rows])
        for attempt in [each for row in rows for each in ledger.attempts().get(row["trial_id"], [])]:
            own.record(attempt)
            if source.folder(attempt).is_dir():
                need_readable(source.folder(attempt))
                shutil.copytree(source.folder(attempt), folder.folder(attempt))
                trials.append(folder.folder(attempt))
    ids = {row["trial_id"] for row in rows}
    if remarks := [each for each in read_remarks(source.root) if each.trial_id in ids]:
        write_remarks(folder.root, remarks)
    for file in source.tables.glob("*/*"):
        if file.stem in ids:
            (folder.tables / file.parent.name).mkdir(exist_ok=True)
            shutil.copyfile(file, folder.tables / file.parent.name / file.name)
    return trials


def only_block(spec: str, block_id: str) -> str:
    """A spec that runs one block of its plan, and is the same otherwise. Raises DecodeError where [study] is inline."""
    line = f'only_blocks = ["{block_id}"]'
    spec = re.sub(r"(?m)^\s*only_blocks\s*=.*\n", "", spec)
    text = re.sub(r"(?m)^(\s*\[\s*study\s*\].*)$", rf"\1\n{line}", spec, count=1)
    if tomllib.loads(text).get("study", {}).get("only_blocks") != [block_id]:
        raise DecodeError("the study's spec has no line [study]", "write [study] as a table of its own, not inline")
    return text


def _analyse(folder: StudyDir) -> None:
    """Tables that are missing, and the report of this block; what that prints is of no interest here."""
    from quiclab.cli.analyse import analyse

    with contextlib.redirect_stdout(io.StringIO()):
        analyse(folder)
