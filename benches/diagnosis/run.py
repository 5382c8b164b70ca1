# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the verdicts on causes, on the golden twin: causes planted, and their effects known exactly.

    python benches/diagnosis/run.py [--set development|held_out] [--cases N] [--shard I/N] [--out FILE]
    python benches/diagnosis/run.py --freeze SET [--cases N]
    python benches/diagnosis/run.py --score FILE… [--confirmed FILE…] [--real FILE…] [--write]

The last scores results, with those of confirmed_cases.py and real.py beside them; --write makes the reference's page.

Cases and seeds are frozen in `frozen.json` before they are scored: a set whose drawing has changed is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from drawing import digest, plans
from golden_twin import Twin, built
from trials import UnfitError, as_line, result

FROZEN = Path(__file__).with_name("frozen.json")


def main() -> None:
    """Run or score."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="development", help="which frozen set of cases")
    parser.add_argument("--seed", type=int, help="another seed, in place of a frozen set")
    parser.add_argument("--cases", type=int, help="only the first of them, or how many of another seed")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="every N-th case, from the I-th on")
    parser.add_argument("--out", type=Path, default=Path("diagnosis.jsonl"))
    parser.add_argument("--freeze", metavar="SET", help="draw a seed for a new set of --cases, and note it")
    parser.add_argument("--score", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--confirmed", type=Path, nargs="+", default=(), metavar="FILE")
    parser.add_argument("--real", type=Path, nargs="+", default=(), metavar="FILE")
    parser.add_argument("--write", action="store_true", help="write the page of the reference")
    arguments = parser.parse_args()
    if arguments.score:
        from confirmed_cases import lines
        from page import text as page
        from scoring import read

        frozen = {each["seed"]: each["cases"] for each in json.loads(FROZEN.read_text()).values()}
        target = FROZEN.parents[2] / "docs" / "reference" / "diagnosis-accuracy.md"
        results = (read(arguments.score), frozen, lines(arguments.confirmed), read(arguments.real))
        text = page(*results, target.read_text())
        if arguments.write:
            target.write_text(text)
        else:
            print(text)
        return
    if arguments.freeze:
        _freeze(arguments.freeze, arguments.cases or 1000)
        return
    _run(arguments)


def _freeze(name: str, number: int) -> None:
    known = json.loads(FROZEN.read_text()) if FROZEN.exists() else {}
    seed = secrets.randbits(32)
    known[name] = {"seed": seed, "cases": number, "sha256": digest(plans(seed, number))}
    FROZEN.write_text(json.dumps(known, indent=2) + "\n")


def _run(arguments: argparse.Namespace) -> None:
    if arguments.seed is None:
        frozen = json.loads(FROZEN.read_text())[arguments.set]
        cases = plans(frozen["seed"], frozen["cases"])
        if digest(cases) != frozen["sha256"]:
            sys.exit(f"the drawing has changed since {arguments.set} was frozen: take a new seed, and freeze that")
        cases = cases[: arguments.cases]
    else:
        cases = plans(arguments.seed, arguments.cases or 20)
    first, step = (int(each) for each in arguments.shard.split("/"))
    twin = Twin(Path(os.environ["QUICLAB_TWIN"])) if "QUICLAB_TWIN" in os.environ else built("release")
    with arguments.out.open("w") as out:
        for plan in cases[first - 1 :: step]:
            try:
                out.write(as_line(result(twin, plan)) + "\n")
            except UnfitError as why:
                print(f"{plan.name} {plan.causes}: {str(why)[:200]}", file=sys.stderr)
            out.flush()


if __name__ == "__main__":
    main()
