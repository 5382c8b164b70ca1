# SPDX-License-Identifier: Apache-2.0
"""Run the cells in experiments/headlines, keep their small results, and write docs/papers.md from these.

usage: headlines.py run [CELL …]     run cells that are not finished, all if none is named, and keep their results
       headlines.py keep [CELL …]    keep the results of cells that have been run
       headlines.py write [--check]  write docs/papers.md and its pictures; --check fails where they are out of date

Studies go to studies/headlines, as those of `quiclab paper` at the paper's size. A run that was ended goes on where it
was.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
from headlines_check import read_all
from headlines_figure import marks, picture
from headlines_page import page, picture_of
from headlines_results import CELLS, ROOT
from headlines_trials import trials_of

from quiclab.cli.paper import USUAL_OUT
from quiclab.cli.trouble import refused, tell
from quiclab.model.errors import RAN, QuiclabError, SpecError
from quiclab.spec.read import read_study
from quiclab.store.layout import BESIDE
from quiclab.why.account import Why
from quiclab.why.mechanisms import BY_NAME

STUDIES = ROOT / USUAL_OUT
PAGE = ROOT / "docs" / "papers.md"
_QUICLAB = ROOT / ".venv" / "bin" / "quiclab"
_DIFFERENCES = (
    "workload", "path", "baseline_arm", "other_arm", "metric", "unit", "pairs", "baseline_median", "other_median",
    "baseline_mean", "other_mean", "baseline_void", "other_void", "difference_pct", "interval_low_pct",
    "interval_high_pct", "interval_confidence_pct", "p", "adjusted_p", "conclusion",
)  # fmt: skip
_USAGE, _FAILED = 2, 1
_LEAST_MS = 1.0
"""Time of an arm's account from which a reason is kept."""


def main(arguments: list[str]) -> int:
    """Do what is asked for; 2 for a wrong command line, 1 where something cannot be read or written."""
    try:
        return _do(arguments)
    except QuiclabError as error:
        tell(error)
    except OSError as error:
        tell(refused(error))
    except pl.exceptions.PolarsError as error:
        print(f"headlines.py: {error}", file=sys.stderr)
    return _FAILED


def _do(arguments: list[str]) -> int:
    match arguments:
        case ["-h" | "--help", *_] | [_, "-h" | "--help"]:
            print(__doc__)
            return 0
        case ["run", *cells]:
            return _run(cells)
        case ["keep", *cells]:
            return _keep(cells)
        case ["write"] | ["write", "--check"]:
            return _write(check=arguments[-1] == "--check")
    print(__doc__, file=sys.stderr)
    return _USAGE


def _keep(cells: list[str]) -> int:
    """Keep results of cells, of all that have a report if none is named; 1 for a named one that has none."""
    lacking = [cell for cell in _known(cells) if not (STUDIES / cell / "report" / "data" / "claims.csv").exists()]
    if cells and lacking:
        print(
            f"headlines.py: {', '.join(lacking)} has no report yet: headlines.py run {' '.join(lacking)}",
            file=sys.stderr,
        )
        return _FAILED
    for cell in _known(cells):
        if cell not in lacking:
            _refuse_a_part(cell)
            keep(STUDIES / cell, CELLS / cell / "results", _explained(STUDIES / cell))
    return _write(check=False)


def _run(cells: list[str]) -> int:
    """Run cells one after another, each with as many trials side by side as the machine allows."""
    code = 0
    left = _known(cells)
    read_all(without=left)  # what is broken is told before hours of work
    for number, cell in enumerate(left):
        print(f"== {cell}", flush=True)
        spec, out = CELLS / cell / "spec.toml", STUDIES / cell
        # One block's logs show what happened; those of all would take some 30 GB.
        command = [_QUICLAB, "run", spec, "--out", out, "--jobs", "auto", "--keep-raw", "pairs:1"]
        ended = _run_to_its_end(command)
        if ended not in RAN:
            print(f"headlines.py: {cell} is not finished; go on with: tools/headlines.py run {' '.join(left[number:])}")
            return ended
        code = code or ended
        keep(out, CELLS / cell / "results", _explained(out))
        _write(check=False)
    return code


def _refuse_a_part(cell: str) -> None:
    """Raise SpecError for a study of fewer blocks than its cell has, so that none takes the place of a whole one."""
    planned = read_study(CELLS / cell / "spec.toml").blocks
    found = json.loads((STUDIES / cell / "resolved.json").read_text())["blocks"]
    if found < planned:
        raise SpecError(
            f"{cell} was run with {found} of its {planned} blocks: its results are not kept",
            hint=f"remove {STUDIES / cell}, then tools/headlines.py run {cell}",
        )


def _run_to_its_end(command: list[Any]) -> int:
    """Run a command to which the terminal sends Ctrl-C, too: the first one lets it finish the blocks under way. What
    ends this program by name, ends the command as well."""
    with subprocess.Popen(command) as running:
        before = signal.signal(signal.SIGINT, lambda *_: None)
        ended_before = signal.signal(signal.SIGTERM, lambda *_: running.terminate())
        try:
            return running.wait()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, ended_before)


def _known(cells: list[str]) -> list[str]:
    """Names of cells, all if none is named."""
    there = sorted(spec.parent.name for spec in CELLS.glob("*/spec.toml"))
    if unknown := sorted(set(cells) - set(there)):
        print(f"headlines.py: {', '.join(unknown)} is no cell; there are {', '.join(there)}", file=sys.stderr)
        sys.exit(_USAGE)
    return cells or there


def _explained(study: Path) -> dict[str, Any]:
    """Document of `quiclab explain --json` for a study, by the first arm of each claim about two; nothing where it has
    no accounts."""
    claims = study / "report" / "data" / "claims.csv"
    if not claims.exists():
        return {}
    rows = pl.read_csv(claims, infer_schema=False).filter(pl.col("second_arm").is_not_null())
    found: dict[str, Any] = {"accounts": []}
    for arm in rows["first_arm"].unique(maintain_order=True):
        command = [_QUICLAB, "explain", study, "--baseline", arm, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found["accounts"] += json.loads(done.stdout)["accounts"] if done.returncode == 0 else []
    return found


def keep(study: Path, results: Path, explained: dict[str, Any]) -> None:
    """Copy what the page needs of a study's report and of what explains it; nothing where no report was written."""
    data = study / "report" / "data"
    if not (data / "claims.csv").exists():
        return
    results.mkdir(exist_ok=True)
    print(f"kept: results of {results.parent.name}")
    for source, name in ((data / "claims.csv", "claims.csv"), (study / "spec.toml", "spec.toml")):
        (results / name).write_bytes(source.read_bytes())
    for source, name in ((study / "paper.toml", "paper.toml"), (data / "counted_cells.csv", "counted_cells.csv")):
        (results / name).unlink(missing_ok=True)
        if source.is_file():
            (results / name).write_bytes(source.read_bytes())
    (results / "trials.csv").unlink(missing_ok=True)
    if (trials := trials_of(study)) is not None:
        trials.write_csv(results / "trials.csv")
    began = pl.read_parquet(study / "tables" / "trials.parquet", columns=["began_utc"])["began_utc"].drop_nulls()
    host = json.loads((study / "host.json").read_text()) | ({"measured": began.max()[:10]} if len(began) else {})
    if host.get(BESIDE):
        host[BESIDE] = "another run of quiclab"  # processes and accounts of a machine are no result
    (results / "host.json").write_text(json.dumps(host, indent=1))
    differences = pl.read_csv(data / "differences.csv", infer_schema=False).filter(kind="main")
    differences.select(_DIFFERENCES).write_csv(results / "differences.csv")
    causes = [
        {name: account[name] for name in ("cell_id", "baseline", "other")}
        | {"cause": cause["name"], "cause_title": _title(cause["name"]), "status": cause["status"]}
        | {"difference_ms": cause["difference_ms"]}
        for account in explained.get("accounts", ())
        for cause in account["causes"]
    ]
    (results / "causes.csv").unlink(missing_ok=True)
    spent = {
        (account["cell_id"], account[side], Why(step["label"]).heading): step[f"{side}_ms"]
        for account in explained.get("accounts", ())
        for side in ("baseline", "other")
        for step in account["why"]
    }
    (results / "accounts.csv").unlink(missing_ok=True)
    if spent:
        rows = [(*place, round(ms, 1)) for place, ms in spent.items() if ms >= _LEAST_MS]
        pl.DataFrame(rows, ["cell_id", "arm", "why", "ms"], orient="row").write_csv(results / "accounts.csv")
    # Of arms that no claim compares, nothing is told.
    compared = {(row["first_arm"], row["second_arm"]) for row in pl.read_csv(data / "claims.csv").iter_rows(named=True)}
    causes = [each for each in causes if (each["baseline"], each["other"]) in compared]
    if causes:
        pl.DataFrame(causes).write_csv(results / "causes.csv")


def _title(cause: str) -> str:
    """Name of a cause for readers; `several:REASON` and `unknown:REASON` are times whose cause the records do not
    tell."""
    return BY_NAME[cause].title if cause in BY_NAME else Why(cause.partition(":")[2]).heading


def _write(*, check: bool) -> int:
    headlines, results = read_all()
    made = {PAGE: page(headlines, results)}
    for paper in headlines.papers:
        if placed := marks(headlines.for_paper(paper), results):
            made[PAGE.parent / picture_of(paper)] = picture(paper.name, placed)
    if not check:
        for file, text in made.items():
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)} and its pictures")
        return 0
    if all(file.is_file() and file.read_text(encoding="utf-8") == text for file, text in made.items()):
        return 0
    print("docs/papers.md is out of date: run tools/headlines.py write", file=sys.stderr)
    return _FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
