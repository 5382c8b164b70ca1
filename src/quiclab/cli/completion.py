# SPDX-License-Identifier: Apache-2.0
"""`quiclab completion`: what a shell needs to complete verbs, options, files, and names that are in a spec or study."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from quiclab.model.errors import ExitCode, SpecError
from quiclab.spec.toml_text import Toml

_DESCRIPTION = """\
Print the lines by which a shell completes quiclab's command line with the Tab key: verbs, options, files, figures,
metrics, named paths, papers and their results, and the cells and arms of the spec or study that the command names. Have
the shell read them where it starts, as the examples do.
"""

_EPILOG = """\
examples:
  quiclab completion bash >> ~/.bashrc
  quiclab completion zsh >> ~/.zshrc      behind the line with compinit
  quiclab completion fish > ~/.config/fish/completions/quiclab.fish
"""

Completer = Callable[..., Iterable[str]]


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "completion",
        help="complete the command line with the Tab key",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's lines."""
    from argcomplete.shell_integration import shellcode

    # bash and zsh complete for the program that was typed; fish must be told which one that is.
    own = shutil.which(sys.argv[0]) or sys.argv[0]
    script = os.path.abspath(own) if arguments.shell == "fish" else None  # noqa: PTH100 - a link stays one
    print(shellcode(["quiclab"], shell=arguments.shell, argcomplete_script=script))
    return ExitCode.OK


def complete_if_asked(top: argparse.ArgumentParser) -> None:
    """Answer the shell, where it is that which asks, and end; else return at once."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    for action in _actions(top):
        completer = _COMPLETERS.get(action.dest)
        if completer is not None and action.choices is None:
            action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(top, always_complete_options="long")


def _actions(top: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    for verbs in (action.choices for action in top._actions if isinstance(action.choices, dict)):  # noqa: SLF001
        for verb, parser in verbs.items():
            for action in parser._actions:  # noqa: SLF001
                if (verb, action.dest) not in _NOT_NAMES:
                    yield action


def _figures(**_: Any) -> Iterable[str]:
    from quiclab.report.figures import FIGURES

    return [figure.name for figure in FIGURES]


def _metrics(**_: Any) -> Iterable[str]:
    from quiclab.evidence.metrics import METRICS

    return [metric.name for metric in METRICS if metric.comparable]


def _profiles(**_: Any) -> Iterable[str]:
    from quiclab.spec.profiles import profiles

    return list(profiles())


def _names(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Names of figures for the verb that draws them, of paths for the other one that takes a name."""
    return _figures() if hasattr(parsed_args, "from_ms") else _profiles()


def _cells(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    named = _known_names(parsed_args)
    return [f"{workload}/{path}" for path in named("path") for workload in named("workload")]


def _arms(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    return _known_names(parsed_args)("arm")


def _known_names(parsed_args: argparse.Namespace) -> Callable[[str], list[str]]:
    """Names of a kind ('path', 'workload', 'arm') in the spec or study of a command line; none where it cannot be
    read."""
    places = [getattr(parsed_args, name, None) for name in ("spec", "study", "new")]
    place = next((each for each in places if each is not None), None)
    document: Toml = {}
    try:
        if place is not None and (resolved := Path(place, "resolved.json")).exists():
            document = json.loads(resolved.read_text(encoding="utf-8"))
        elif place is not None:
            from quiclab.spec.read import load_spec

            spec = load_spec(Path(place)).document
            document = {f"{kind}s": spec.get(kind, []) for kind in ("path", "workload", "arm")}
    except (OSError, ValueError, SpecError):
        return lambda _: []
    return lambda kind: [str(each["name"]) for each in document.get(f"{kind}s", []) if not each.get("only_for")]


def _papers(**_: Any) -> Iterable[str]:
    from quiclab.spec.headlines import read_headlines

    return [paper.word for paper in read_headlines().papers]


def _results(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    """Ids of a paper's results, and the labels of its figures, tables and sections."""
    from quiclab.spec.headline_choice import choose, paper_places
    from quiclab.spec.headlines import read_headlines

    try:
        headlines = choose(read_headlines(), parsed_args.paper or "").headlines  # none is named before its own Tab
    except SpecError:
        return []
    return [word for each in headlines for word in (each.id, *(place.label for place in paper_places(each.where)))]


_COMPLETERS: dict[str, Completer] = {
    "name": _names,
    "paper": _papers,
    "result": _results,
    "metric": _metrics,
    "profile": _profiles,
    "cell": _cells,
    "block": _cells,
    "arm": _arms,
    "other": _arms,
}
"""Name of an argument → its completer; all others are completed by fixed choices, or as files."""
_NOT_NAMES = {("exec", "block"), ("probe", "block"), ("figure", "block"), ("trial", "block")}
"""Arguments that are called like another verb's and mean something else."""
