# SPDX-License-Identifier: Apache-2.0
"""`quiclab merge`: join the parts of a study that ran apart, and write the report of the whole."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.cli.own_name import as_typed
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.store.layout import StudyDir

_EPILOG = """\
examples:
  quiclab run spec.toml --shard 1/2             on one machine
  quiclab run spec.toml --shard 2/2             on another one
  quiclab merge studies/wifi wifi-1-of-2 wifi-2-of-2
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "merge",
        help="join the parts of a study that ran apart",
        description="Bring the trials of studies of one spec, run with --shard, into one study, and write its report. "
        "In any order, and again: what is there already stays. Parts of another spec, or run with other programs, are "
        "refused; machines and kernels may differ, and count as sessions of their own.",
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="directory of the whole; it is made if needed")
    parser.add_argument("parts", type=Path, nargs="+", metavar="PART", help="directories that `quiclab run` made")
    parser.add_argument("--no-report", action="store_true", help="stop when all trials are there")
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Merge, then report. Raises SpecError for parts that do not fit together."""
    from quiclab.cli.ending import code_at_the_end, code_of_trials
    from quiclab.cli.run_document import counts, run_document
    from quiclab.model import number_text
    from quiclab.study.merge import merge
    from quiclab.why.confirm.records import FOLDER

    study_dir = StudyDir(arguments.study.resolve())
    merged = merge(study_dir, [StudyDir(each.resolve()) for each in arguments.parts])
    trials = counts(merged.study, study_dir)
    if not arguments.quiet:
        known = f"; {merged.known} were there already" if merged.known else ""
        print(f"{number_text.counted(merged.brought, 'trial')} brought into {study_dir.root}{known}.")
        for told in merged.caveats:
            print(as_typed(told))
        if merged.mended:
            print(f"Whole again, of those that were damaged: {number_text.counted(merged.mended, 'trial')}.")
        for trial_id, lacks in merged.damaged.items():
            print(f"trial {trial_id} is damaged: {lacks}. It has no result; merge a part again that has it whole.")
        if merged.left_out:
            told = number_text.counted(merged.left_out, "trial")
            print(f"Left out: {told} of blocks that are not over; let their run go on and merge again.")
        if trials.not_run:
            print(f"{trials.not_run} of {trials.planned} planned trials are not there: `quiclab run` runs them.")
        for part in arguments.parts:
            if (part / FOLDER).is_dir():
                print(f"Runs that confirm a cause are studies of their own, and stay where they are: {part / FOLDER}.")
    result = None
    if not arguments.no_report:
        from quiclab.cli.analyse import analyse

        with study_dir.locked():
            result = analyse(study_dir)
    code = code_at_the_end(code_of_trials(trials), study_dir, result)
    if arguments.json:
        print_document(run_document(study_dir, code, trials, result))
    return code
