# SPDX-License-Identifier: Apache-2.0
"""Keep every answer that quiclab gives to what is here, and tell which of them a change has changed.

usage: same_answers.py keep FOLDER [STUDY ...]    write the answers into FOLDER, which must not be there
       same_answers.py compare FOLDER FOLDER      print which answers differ, and the first lines that do; 1 if any

A change that only moves or renames something keeps all answers; one that does more lists those that it changes.
What is asked: of each spec under experiments/ its plan, as text and as JSON (the resolved spec, the links'
configuration, the order of the trials); of the recorded demo its explanation, report and SQL tables; of each recording
in the tests its tables (columns and a hash of the rows), and its explanation where there are two. Of each finished
STUDY with raw files the tables and metrics, decoded anew, and the same as of the demo.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import difflib
import gzip
import hashlib
import io
import os
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "docs" / "demo-study.tar.xz"
RECORDINGS = tuple(ROOT / "tests" / "unit" / room / "recordings" for room in ("evidence/verify", "cli"))
DERIVED = ("tables", "metrics.parquet", "report.html")
SHOWN_LINES, COLUMNS = 12, 120
Answers = dict[str, str]


def main(arguments: list[str]) -> int:
    """Do as the arguments say; 1 where answers differ."""
    match arguments:
        case ["keep", folder, *studies]:
            return _keep(Path(folder), [Path(study).resolve() for study in studies])
        case ["compare", before, after]:
            return _compare(Path(before), Path(after))
    print(__doc__, file=sys.stderr)
    return 2


def _keep(folder: Path, studies: list[Path]) -> int:
    folder.mkdir(parents=True)
    asked: list[tuple[Callable[[Path], Answers], Path]] = [
        *((spec_answers, spec) for spec in sorted((ROOT / "experiments").rglob("*.toml")) if spec.name != "paper.toml"),
        *((recording_answers, each) for each in _recordings()),
        (two_recordings_answers, RECORDINGS[1]),
        (record_answers, DEMO),
        *((study_answers, study) for study in studies),
    ]
    number = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for answers in concurrent.futures.as_completed([pool.submit(ask, what) for ask, what in asked]):
            for name, answer in answers.result().items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(answer, encoding="utf-8")
                number += 1
    print(f"{number} answers in {folder}")
    return 0


def _recordings() -> Iterator[Path]:
    for folder in RECORDINGS:
        yield from (each for each in sorted(folder.iterdir()) if each.is_dir() or each.suffix != ".md")


def spec_answers(spec: Path) -> Answers:
    """The plan of a spec, or why there is none."""
    name = f"specs/{spec.relative_to(ROOT / 'experiments').with_suffix('')}"
    with _alone() as folder:
        shutil.copytree(spec.parent, folder / "spec", symlinks=True)
        asked = str(Path("spec") / spec.name)
        return {f"{name}.txt": _printed("plan", "--all", asked), f"{name}.json": _printed("plan", "--json", asked)}


def recording_answers(recording: Path) -> Answers:
    """The tables of a recording."""
    with _alone() as folder:
        files = [recording] if recording.is_file() else sorted(each for each in recording.rglob("*") if each.is_file())
        for file in files:
            shutil.copy(file, folder / file.name)
        said = _printed("decode", *(file.name for file in files), "-o", "tables")
        name = f"recordings/{recording.relative_to(ROOT / 'tests' / 'unit')}"
        return {f"{name}.txt": said + _tables(folder / "tables")}


def two_recordings_answers(recordings: Path) -> Answers:
    """The explanation of two recordings, as text and as JSON."""
    with _alone() as folder:
        for file in recordings.glob("h[23]*"):
            content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            (folder / file.name.removesuffix(".gz")).write_bytes(content)
        asked = ("explain", "--h2", "h2.pcapng", "h2.keys", "--h3", "h3.pcapng", "h3.keys")
        return {"recordings/explained.txt": _printed(*asked), "recordings/explained.json": _printed(*asked, "--json")}


def record_answers(record: Path) -> Answers:
    """The answers of a study that is kept as an archive of its tables: `quiclab report` would ask for its logs."""
    from rich.console import Console

    from quiclab.compare.analyse import analyse_study
    from quiclab.report.page.write import write_report
    from quiclab.report.words.terminal import render

    with _alone() as folder, tarfile.open(record) as archive:
        archive.extractall(folder, filter="data")
        (study,) = (Path(each.name) for each in folder.iterdir())
        printed = io.StringIO()
        render(analyse_study(study), Console(file=printed, width=COLUMNS))
        page = write_report(study.resolve())
        return {
            f"studies/{study}/report.txt": printed.getvalue(),
            f"studies/{study}/page.txt": _words(page.read_text(encoding="utf-8")),
            **_explained(study, f"studies/{study}"),
        }


def study_answers(study: Path) -> Answers:
    """The answers of a finished study, from its raw files."""
    with _alone() as folder:
        shutil.copytree(study, folder / "study", symlinks=True, ignore=shutil.ignore_patterns(*DERIVED))
        said = _printed("report", "study")
        name = f"studies/{study.parent.name}-{study.name}"
        return {
            f"{name}/report.txt": said,
            f"{name}/report.json": _printed("report", "study", "--json"),
            f"{name}/page.txt": _words((folder / "study" / "report.html").read_text(encoding="utf-8")),
            f"{name}/tables.txt": _tables(folder / "study"),
            **_explained(Path("study"), name),
        }


def _explained(study: Path, name: str) -> Answers:
    return {
        f"{name}/explain.txt": _printed("explain", str(study)),
        f"{name}/explain.json": _printed("explain", str(study), "--json"),
        f"{name}/status.json": _printed("status", str(study), "--json"),
    }


def _tables(folder: Path) -> str:
    """A line for each table: its number of rows, a hash of them in any order, and its columns."""
    return "".join(
        f"{file.relative_to(folder)}: {table.height} rows, {_hash(table)}, {dict(table.schema)}\n"
        for file in sorted(folder.rglob("*.parquet"))
        for table in (pl.read_parquet(file),)
    )


def _hash(table: pl.DataFrame) -> str:
    lines = sorted(repr(row) for row in table.iter_rows())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _words(page: str) -> str:
    """A page's text, a line for each piece, and a hash of each of its scripts with data."""
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    shown = re.sub(r"<(script|style|noscript)\b.*?</\1>", "", page, flags=re.DOTALL)
    words = [" ".join(line.split()) for line in re.sub(r"<[^>]*>", "\n", shown).splitlines()]
    hashes = [hashlib.sha256(each.encode()).hexdigest()[:16] for each in data]
    return "".join(f"{line}\n" for line in (*filter(None, words), *hashes))


@contextlib.contextmanager
def _alone() -> Iterator[Path]:
    """An empty folder, which is the current one meanwhile."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def _printed(*words: str) -> str:
    """The exit code of a command and what it prints, in a terminal of `COLUMNS`."""
    from quiclab.cli.main import main as quiclab

    os.environ |= {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code: object = quiclab(list(words))
        except SystemExit as ended:
            code = ended.code
    return f"exit code {code}\n{out.getvalue()}"


def _compare(before: Path, after: Path) -> int:
    old, new = (
        {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
        for folder in (before, after)
    )
    different = 0
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name}: only {'before' if name in old else 'after'}")
            different += 1
            continue
        was, now = (side[name].read_text(encoding="utf-8").splitlines() for side in (old, new))
        if was != now:
            lines = [
                line for line in difflib.unified_diff(was, now, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")
            ]
            print(f"{name}: {len(lines)} lines", *(f"  {line[:200]}" for line in lines[:SHOWN_LINES]), sep="\n")
            different += 1
    print(f"{different} of {len(old.keys() | new.keys())} answers differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
