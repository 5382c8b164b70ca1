# SPDX-License-Identifier: Apache-2.0
"""The commands in the docs and in the help are commands: verbs, options, cells, figures and files are there."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from quiclab.cli.main import parser
from quiclab.report.figures import FIGURES
from quiclab.spec.read import read_study

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "GLOSSARY.md", "SECURITY.md")),
    *sorted(page for page in ROOT.glob("docs/*/**/*.md") if page.parent.name != "decisions"),
    *sorted(ROOT.glob("experiments/**/*.md")),
]
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$|(?<=\n\n)((?:    [^\n]*\n)+)", re.DOTALL | re.MULTILINE)
_SHELL = ("", "sh", "bash", "yaml", None)
_COMMAND = re.compile(r"(?:^\s*(?:[$#] )?|\.venv/bin/)quiclab ([a-z].*)$")
_INLINE = re.compile(r"`(?:\.venv/bin/)?quiclab ([a-z][a-z-]*(?: [^`\n]*)?)`")
_MEANT = {"FORMAT": "qlog", "BLOCK": "3"}
"""Words that stand for something of which the parser knows the kind."""
DEMO = read_study(ROOT / "experiments" / "demo" / "spec.toml")
CELLS = {f"{workload.name}/{path.name}" for workload in DEMO.workloads for path in DEMO.paths}


@cache
def quiclab() -> argparse.ArgumentParser:
    """The parser of the command line; it reads many commands one after the other."""
    return parser()


def verbs() -> dict[str, argparse.ArgumentParser]:
    """The parser of each verb."""
    (actions,) = [each for each in quiclab()._actions if isinstance(each, argparse._SubParsersAction)]
    return dict(actions.choices)


def commands(text: str) -> Iterator[tuple[str, bool]]:
    """What follows `quiclab`, and whether it is a whole command, as in blocks, where it may take several lines; in the
    middle of a sentence it may be a part."""
    for block in _BLOCK.finditer(text):
        lines = re.sub(r"\\\n\s*", " ", block[3] or block[4] or "")
        for line in _joined(lines) if block[2] in _SHELL else ():
            found = _COMMAND.search(line)
            if found:
                yield found[1], "…" not in found[1] and "..." not in found[1]
    yield from ((found[1], False) for found in _INLINE.finditer(text))


def _joined(text: str) -> Iterator[str]:
    """Lines, with those in between the two quotes of a word joined."""
    line = ""
    for part in text.splitlines():
        line = f"{line} {part}" if line else part
        if re.sub(r"\\.|\s#.*", "", line).count('"') % 2 == 0:
            yield line
            line = ""


def words(command: str) -> list[str]:
    """As a shell would give them: without a comment, a pipe or a redirection, and what follows."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    found = list(lexer)
    ends = [place for place, word in enumerate(found) if set(word) <= set("|&;<>")]
    return [_MEANT.get(word, word) for word in (found[: ends[0]] if ends else found)]


@cache
def texts() -> dict[str, str]:
    """Pages of the docs, and the help of each verb, by name."""
    helps = {name: f"{verb.epilog or ''}\n{verb.description or ''}" for name, verb in verbs().items()}
    # What an example is for stands behind it, after a gap.
    helps = {f"{name} --help": re.sub(r"(?<=\S) {2,}.*", "", text) for name, text in helps.items()}
    helps = {name: f"```\n{text}\n```" for name, text in helps.items()}
    return {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES} | helps


def told() -> Iterator[tuple[str, str, bool]]:
    """Every command, with the page that tells it, and whether it is whole."""
    for name, text in texts().items():
        yield from ((name, *command) for command in dict.fromkeys(commands(text)))


def test_there_are_commands() -> None:
    """Those that everything else here is about."""
    found = list(told())
    assert len(found) > 100
    assert {"README.md", "figure --help", "docs/how-to/exec.md"} <= {name for name, *_ in found}


@pytest.mark.parametrize(("page", "command", "whole"), list(told()))
def test_a_command_is_one(page: str, command: str, whole: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser takes it; of a part of a command, the verb and the options are there."""
    verb, *arguments = words(command.rstrip(" .,:"))
    known = verbs()
    assert verb in known, f"{page}: no verb {verb!r}"
    if whole:
        try:
            quiclab().parse_args([verb, *arguments])
        except SystemExit:
            pytest.fail(f"{page}: quiclab {command}\n{capsys.readouterr().err}")
    options = {option for action in known[verb]._actions for option in action.option_strings}
    asked = arguments[: arguments.index("--")] if "--" in arguments else arguments
    missing = [word for word in asked if re.fullmatch(r"--[a-z][a-z-]+", word.partition("=")[0]) and
               word.partition("=")[0] not in options]  # fmt: skip
    assert missing == [], f"{page}: quiclab {verb} has no {missing}"


@pytest.mark.parametrize(("page", "command"), [each[:2] for each in told() if each[1].startswith("figure ")])
def test_a_figure_is_one(page: str, command: str) -> None:
    """Its name is on the list, or a word for any."""
    name = words(command)[1]
    assert name in {each.name for each in FIGURES} | {"NAME", "--list", "departures"}, page


@pytest.mark.parametrize("page", [name for name in texts() if not name.startswith("experiments/")])
def test_a_cell_of_the_demo_is_one(page: str) -> None:
    """Examples name cells that a reader of the demo, or of the page's own spec or question, has."""
    text = texts()[page]
    found = set(re.findall(r"\b\d+[KM]B/[a-z0-9-]+", text)) - CELLS
    own = {cell for cell in found if f'name = "{cell.partition("/")[2]}"' in text}  # of a spec that the page shows
    own |= {f"{size}/{rtt}" for size, rtt in re.findall(r"quiclab ask --size (\w+) --rtt (\w+)", text)} & found
    assert found == own


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/commands.md"])
def test_a_file_of_the_repository_is_there(page: str) -> None:
    """Specs that a command reads, by the project's folder, and pages that a link leads to, by the page's own."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {word for command, _ in commands(text) for word in words(command) if word.startswith("experiments/")}
    linked = {link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link}
    assert linked
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert [name for name in sorted(linked) if not (ROOT / page).parent.joinpath(name).exists()] == []
