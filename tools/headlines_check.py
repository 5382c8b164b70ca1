# SPDX-License-Identifier: Apache-2.0
"""Read headlines.toml and all kept results, and refuse what is broken or a part: a lost row can better a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from headlines_results import CELLS, CellResults, Headlines, Place, Verdict, places, read_headlines, read_results
from polars.exceptions import PolarsError

from quiclab.model.errors import SpecError
from quiclab.spec.paper import read_paper

_VERDICTS = frozenset({"agrees", "differs", "inconclusive", "not judged", str(Verdict.NOT_TESTABLE)})
_OF_THE_HOST = ("programs", "cpus", "cpu_model", "kernel", "quiclab")


def read_all(folder: Path = CELLS, without: Collection[str] = ()) -> tuple[Headlines, dict[str, CellResults]]:
    """Read headlines.toml and the results of every cell but those in `without`, which are to be made anew. Raise
    SpecError, which names the file, where one cannot be read or they do not fit each other."""
    file = folder / "headlines.toml"
    headlines = read_headlines(file)
    declared = {
        spec.parent.name: {
            claim.id: places(claim.kind, claim.workloads, claim.paths)
            for claim in read_paper(spec.parent / "paper.toml").claims
        }
        for spec in sorted(folder.glob("*/spec.toml"))
    }
    if unknown := sorted(set(_unknown(headlines, declared))):
        raise SpecError(
            f"{file} names what there is not: {', '.join(unknown)}", hint="claims are CELL:ID of the cell's paper.toml"
        )
    return headlines, {cell: _results(cell, places, folder) for cell, places in declared.items() if cell not in without}


def _unknown(headlines: Headlines, declared: dict[str, dict[str, set[Place]]]) -> Iterator[str]:
    """Cells, claims and papers that headlines.toml names and that are nowhere."""
    for headline in headlines.headlines:
        if not any(headline.id.startswith(paper.key) for paper in headlines.papers):
            yield f"{headline.id}, whose letter is of no paper"
        named = [*headline.claims, *(claim for each in headline.stands_in for claim in each.claims)]
        named += [(each.cell, each.claim) for each in headline.counterfactuals if each.claim]
        yield from (f"{cell}:{claim}" for cell, claim in named if claim not in declared.get(cell, {}))
        yield from (each.cell for each in headline.counterfactuals if each.cell not in declared)
        for each in headline.counterfactuals:
            there = {path for _, path in declared.get(each.cell, {}).get(each.claim, ())}
            yield from (f"{each.cell}:{each.claim} over {path}" for path in each.paths if path not in there)
        own = {f"{cell}:{claim}" for cell, claim in headline.claims}
        yield from (
            f"{each.cause_of}, which is no claim of {headline.id}"
            for each in headline.counterfactuals
            if each.cause_of and (each.cause_of not in own or not each.claim)
        )


def _results(cell: str, wanted: dict[str, set[Place]], folder: Path) -> CellResults:
    """Read a cell's results; nothing only where their folder is not there. A claim that was written since lacks its
    rows; it is told by the claims that were measured, where they are kept."""
    results = folder / cell / "results"
    hint = f"restore it with git, or make it anew: tools/headlines.py keep {cell}"
    if not results.exists():
        return CellResults()
    try:
        for name in ("claims.csv", "differences.csv", "spec.toml"):
            if not (results / name).is_file():
                raise SpecError(f"{results / name} is missing", hint=hint)
        found = read_results(cell, folder)
        if lacking := [key for key in _OF_THE_HOST if key not in found.host]:
            raise SpecError(f"{results / 'host.json'} lacks {', '.join(lacking)}", hint=hint)
    except (OSError, ValueError, KeyError, TypeError, PolarsError) as error:
        raise SpecError(f"{results} cannot be read: {_error_line(error)}", hint=hint) from error
    written_then = _claims_measured(results / "paper.toml")
    for claim, asked in wanted.items():
        rows = found.claims.get(claim, [])
        measured = {each for each in asked if found.changed.was_there(*each)}
        if written_then is not None and claim not in written_then:
            measured = set()
        if missing := measured - {(row["workload"], row["path"]) for row in rows}:
            place = ", ".join(name or "all cells" for name in min(missing, key=str))
            raise SpecError(f"{results / 'claims.csv'} has no row of {claim} for {place}", hint=hint)
        if odd := {str(row["verdict"]) for row in rows} - _VERDICTS:
            raise SpecError(f"{results / 'claims.csv'} has a verdict that there is not: {min(odd)}", hint=hint)
    return found


def _claims_measured(file: Path) -> frozenset[str] | None:
    """Ids of the claims that a cell was measured with; None where they are not kept, as those of earlier runs."""
    return frozenset(claim.id for claim in read_paper(file).claims) if file.is_file() else None


def _error_line(error: Exception) -> str:
    """The first line of what is wrong, after its kind."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
