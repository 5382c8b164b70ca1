# SPDX-License-Identifier: Apache-2.0
"""`quiclab compare`: did my change make it slower?"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.errors import DecodeError, ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.analysis.builds.setting import Difference
    from quiclab.analysis.study import Study

_DESCRIPTION = """\
Compare two studies of one spec that were run with two builds: every arm in every cell, NEW against OLD. Blocks pair up
where the studies have the same seed. Studies that were not run alike are refused, and every difference is named; only
the build of one program is meant to change.
"""

_EPILOG = """\
a bound: METRIC > +NUMBER or METRIC < -NUMBER, in % of OLD's median or with a unit (ms, us, s, B, KB, MB, bit/s, kbit/s,
Mbit/s; none for a count). A cell fails where its change is significant after correction over all that is compared, and
the end of its interval that is nearer to no change lies beyond the bound. Then the exit code is 6, and 1
where no cell could be judged.

examples:
  quiclab compare studies/old studies/new
  quiclab compare OLD NEW --arm h3 --fail-if 'ttlb > +3%' --fail-if 'setup > +5ms'
  quiclab compare OLD NEW --fail-if 'goodput < -2%' --junit gate.xml --markdown gate.md
  quiclab compare OLD NEW --allow kernel,programs.nginx
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "compare",
        help="compare two studies run with two builds, as a gate for a change",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", type=Path, metavar="OLD", help="study directory of the build before the change")
    parser.add_argument("new", type=Path, metavar="NEW", help="study directory of the build after it")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="what is compared (default: as the report does)"
    )
    parser.add_argument("--arm", action="append", default=[], metavar="ARM", help="arm under test (default: all)")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="KEY,…",
        help="differences that you accept, as the refusal names them",
    )
    parser.add_argument("--fail-if", action="append", default=[], metavar="BOUND", help="fail beyond it: see below")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the gate's answer as JUnit XML")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary in Markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for a wrong bound, metric or arm and for studies not run alike, DecodeError for no study."""
    from quiclab.analysis.analyse import usual_metric
    from quiclab.analysis.builds.gate import Verdict, exit_verdict, judge, limit_of, parse_bound
    from quiclab.analysis.builds.setting import differences, groups
    from quiclab.analysis.builds.two_studies import compare_studies
    from quiclab.cli.console import VisibleConsole
    from quiclab.metrics.names import find_metric
    from quiclab.report.words.change_text import render_change
    from quiclab.report.words.gate_files import junit_xml, markdown
    from quiclab.store.layout import write_atomically

    bounds = [parse_bound(text) for text in arguments.fail_if]
    if arguments.junit and not bounds:
        raise SpecError("--junit says what passed and what failed, and nothing can fail", "add --fail-if 'ttlb > +3%'")
    old, new = _studies(arguments.old, arguments.new)
    known = set(old.metrics["name"]) | set(new.metrics["name"])
    absent = "neither study measured a metric"
    asked = [(bound, find_metric(bound.metric, known, absent)) for bound in bounds]
    named = [*(find_metric(name, known, absent) for name in arguments.metric), *(name for _, name in asked)]
    arms = _arms(old, new, arguments.arm)
    allowed = [key.strip() for keys in arguments.allow for key in keys.split(",") if key.strip()]
    found = differences(old, new, arms, allowed)
    _refuse(found, groups(old, new), allowed)
    result = compare_studies(old, new, list(dict.fromkeys(named)) or [usual_metric(old)], sorted(arms), found)
    for bound, name in asked:
        limit_of(bound, next(metric for metric in result.metrics if metric.name == name))
    judgements = judge(asked, result.changes)
    render_change(result, judgements, VisibleConsole())
    if arguments.junit:
        write_atomically(arguments.junit, junit_xml(result, judgements))
    if arguments.markdown:
        write_atomically(arguments.markdown, markdown(result, judgements))
    if not bounds:
        return ExitCode.OK
    codes = {Verdict.PASSED: ExitCode.OK, Verdict.FAILED: ExitCode.GATE, Verdict.NOT_JUDGED: ExitCode.TRIALS_FAILED}
    return codes[exit_verdict(judgements)]


def _studies(old: Path, new: Path) -> tuple[Study, Study]:
    from quiclab.analysis.study import read_study

    if old.resolve() == new.resolve():
        raise SpecError(f"{old} and {new} are the same study", "give the study of the build before and the one after")
    studies = read_study(old), read_study(new)
    for study in studies:
        if not study.trials.height:
            raise DecodeError(
                f"{study.directory} has no table of trials", "`quiclab report STUDY` makes the tables of a study"
            )
    return studies


def _arms(old: Study, new: Study, asked: Sequence[str]) -> set[str]:
    """The arms under test. Raises SpecError for one that a study has not."""
    there = [{str(arm) for arm in study.trials["arm"] if "#" not in str(arm)} for study in (old, new)]
    for arm in asked:
        for label, arms in zip(("OLD", "NEW"), there, strict=True):
            if arm not in arms:
                close = difflib.get_close_matches(arm, sorted(arms), 1)
                hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(sorted(arms))}"
                raise SpecError(f"{label} has no trial of an arm {arm!r}", hint)
    return set(asked) or there[0] | there[1]


def _refuse(found: Collection[Difference], known: Collection[str], allowed: Collection[str]) -> None:
    """Raises SpecError with every difference that was neither meant nor accepted."""
    for key in allowed:
        if key.partition(".")[0] not in known:
            close = difflib.get_close_matches(key, sorted(known), 1)
            raise SpecError(
                f"--allow {key}: there is no such difference",
                f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}",
            )
    refused = [each for each in found if not each.expected and not each.is_of(allowed)]
    if refused:
        keys = list(dict.fromkeys(each.key for each in refused))
        short = keys if len(keys) <= 4 else list(dict.fromkeys(key.partition(".")[0] for key in keys))
        raise SpecError(
            "OLD and NEW were not run alike: a difference between them could be any of these",
            f"run both alike, or accept what cannot matter: --allow {','.join(short)}",
            tuple(map(str, refused)),
        )
