# SPDX-License-Identifier: Apache-2.0
"""Verdict on a headline, from its claims' own and from what headlines.toml declares of it; none is written by hand."""

from __future__ import annotations

from collections.abc import Mapping

from headlines_results import CellResults, Headline, StandIn, Verdict, rows_again, rows_of

AGREES, DIFFERS = "agrees", "differs"

MEANINGS = {
    Verdict.REPRODUCED: "every claim agrees, in every cell of it",
    Verdict.PLANTED: "every claim agrees where the fault that the paper found is put into another program: that shows "
    "what such a fault does, and not that the paper's program had it",
    Verdict.IN_PART: "some claims agree, the others are inconclusive, not judged or not testable; or all agree, and do "
    "not carry all that the paper says, for the reason given",
    Verdict.STANDS_IN: "the paper's server is not to be had as it was, and those that stand in for it do not all agree "
    "with the paper, nor all differ, or have not all been run; each is shown",
    Verdict.CAUSE_TAKEN: "a claim is contradicted, and agrees where what is said to be the cause of that is taken away",
    Verdict.DIFFERS: "a claim is contradicted: the difference is the other way, or the number outside its margin",
    Verdict.INCONCLUSIVE: "what was measured neither confirms nor contradicts it",
    Verdict.PARTLY_RUN: "what has been run of it contradicts no claim; cells of it have not been run",
    Verdict.NOT_RUN: "no study of this size has been run over the paths that its spec has now",
    Verdict.NOT_TESTABLE: "no study here can be held against it, for the reason given",
}


def verdict_of(headline: Headline, results: Mapping[str, CellResults], *, before: bool = False) -> Verdict:
    """One verdict from those of all claims in all of their cells: a single one that differs decides, unless it is that
    of one server that stands in and not of another. What was measured before its spec changed counts only if `before`
    is true."""
    if headline.not_testable:
        return Verdict.NOT_TESTABLE
    found = _claims_verdict(headline, results, before=before)
    if found is Verdict.NOT_RUN:
        return found
    if servers_disagree(headline, results, before=before):
        return Verdict.STANDS_IN
    if found is Verdict.DIFFERS and _is_taken_away(headline, results, before=before):
        return Verdict.CAUSE_TAKEN
    if found is Verdict.REPRODUCED and headline.planted:
        return Verdict.PLANTED
    return Verdict.IN_PART if found is Verdict.REPRODUCED and headline.but else found


def servers_disagree(headline: Headline, results: Mapping[str, CellResults], *, before: bool = False) -> bool:
    """True if the paper's result is contradicted by one of the servers that stand in, or agrees with one, and not with
    all of them; one that has not been run has no outcome. False where a claim differs in which none of them has a
    part."""
    if _differs_whatever_server(headline, results, before=before):
        return False
    return len({_outcome(verdicts(each, results, before=before)) for each in headline.stands_in}) > 1


def _differs_whatever_server(headline: Headline, results: Mapping[str, CellResults], *, before: bool) -> bool:
    """True if a claim differs that no server which stands in has a part in."""
    of_servers = {claim for each in headline.stands_in for claim in each.claims}
    found = rows_of(headline, results, before=before)
    return any(row["verdict"] == DIFFERS and (cell, row["claim"]) not in of_servers for cell, row in found)


def _outcome(found: list[str]) -> str:
    """Outcome of a server by the verdicts of its claims: one that differs decides; empty where it has not been run."""
    if DIFFERS in found:
        return DIFFERS
    return AGREES if set(found) == {AGREES} else "inconclusive" if found else ""


def verdicts(claims: Headline | StandIn, results: Mapping[str, CellResults], *, before: bool = False) -> list[str]:
    """Verdict of each row of the claims of a headline or of a server, in order."""
    return [str(row["verdict"]) for _, row in rows_of(claims, results, before=before)]


def _claims_verdict(headline: Headline, results: Mapping[str, CellResults], *, before: bool) -> Verdict:
    found = verdicts(headline, results, before=before)
    if not found:
        return Verdict.NOT_RUN
    if DIFFERS in found:
        return Verdict.DIFFERS
    if len(found) < len(rows_of(headline, results)) or any(_is_lacking(*each, results) for each in headline.claims):
        return Verdict.PARTLY_RUN
    if set(found) == {AGREES}:
        return Verdict.REPRODUCED
    return Verdict.IN_PART if AGREES in found else Verdict.INCONCLUSIVE


def _is_lacking(cell: str, claim: str, results: Mapping[str, CellResults]) -> bool:
    return claim not in results[cell].claims or claim in results[cell].lacking


def _is_taken_away(headline: Headline, results: Mapping[str, CellResults], *, before: bool) -> bool:
    """True if every claim that differs agrees in a cell without what is said to be the cause."""
    differing = {
        f"{cell}:{row['claim']}" for cell, row in rows_of(headline, results, before=before) if row["verdict"] == DIFFERS
    }
    gone = set()
    for each in headline.counterfactuals:
        again = rows_again(each, results, before=before) if each.cause_of else []
        if again and all(row["verdict"] == AGREES for row in again):
            gone.add(each.cause_of)
    return differing <= gone
