# SPDX-License-Identifier: Apache-2.0
"""Help with examples that can be copied, and wrong words told with the nearest right ones."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quiclab.cli import own_name
from quiclab.cli.main import main, parser
from quiclab.cli.own_name import VERBS, as_typed
from quiclab.model.errors import SpecError


def verbs() -> dict[str, argparse.ArgumentParser]:
    """Every verb with its parser."""
    (action,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


def examples(verb: str) -> Iterator[str]:
    """The commands of a verb's examples, without the remarks behind them."""
    lines = (verbs()[verb].epilog or "").partition("examples:\n")[2].partition("\n\n")[0].splitlines()
    whole = ""
    for line in lines:
        whole += line + "\n"
        if whole.count('"') % 2 == 0:  # a query may stand in several lines
            if whole.strip().startswith("quiclab "):
                yield re.split(r"\s{3,}(?=[a-z])", whole.strip())[0]
            whole = ""


def test_every_verb_is_known_by_name() -> None:
    """In the order of the help: names in hints are made commands by this list."""
    assert tuple(verbs()) == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_has_examples_that_work(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is a command line that is understood, and of this verb."""
    found = list(examples(verb))
    assert found, verb
    for command in found:
        words = shlex.split(command)
        words = words[: next((place for place, word in enumerate(words) if word in {">", ">>"}), None)]
        if words[1] == verb:
            assert callable(parser().parse_args(words[1:]).run), command
    assert any(shlex.split(command)[1] == verb for command in found)
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert found[0].split(" ", 1)[1] in capsys.readouterr().out


def test_alone_it_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output, with the exit code of a wrong command line."""
    assert main([]) == 2
    told = capsys.readouterr()
    assert "examples of each verb" in told.out
    assert "conformance" in told.out
    assert told.err == ""


@pytest.mark.parametrize(
    ("words", "told", "hint"),
    [
        ("runn x.toml", "there is no verb 'runn'", "did you mean run?"),
        ("frobnicate", "there is no verb 'frobnicate'", "there are ask, plan, run, paper, status, merge"),
        ("plan x.toml --alll", "plan has no option --alll", "did you mean --all?"),
        ("run x.toml --block=3", "run has no option --block", "did you mean --blocks?"),
        ("run x.toml --block 3", "run has no option --block", "did you mean --blocks?"),
        ("run --hlep", "run has no option --hlep", "did you mean --help?"),
        ("figure window s --shap violin", "figure has no option --shap", "did you mean --shape?"),
        ("exec --los 1% -- true", "exec has no option --los", "did you mean --loss?"),
        ("--vers", "quiclab has no option --vers", "did you mean --version?"),
        ("run x.toml --blcks=3", "run has no option --blcks", "did you mean --blocks?"),
        ("figure window s --shape violn", "figure: there is no --shape 'violn'", "did you mean violin?"),
        ("figure sequnce study", "there is no figure 'sequnce'", "did you mean sequence?"),
        ("plan x.toml y.toml", "plan: 'y.toml' is one word too many", "quiclab plan --help"),
        ("plan", "plan: the following arguments are required: SPEC", "quiclab plan --help"),
        ("sql s --format csv q r", "sql: 'r' is one word too many", "quiclab sql --help"),
        ("sql s -x", "sql: '-x' is one word too many", "quiclab sql --help"),
        ("--hepl", "quiclab has no option --hepl", "did you mean --help?"),
        ("paths ltee", "there is no path called 'ltee'", "did you mean lte?"),
        ("export qlgo x -o y", "export: there is no format 'qlgo'", "did you mean qlog?"),
    ],
)
def test_wrong_words(words: str, told: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line names what is wrong, the next the nearest option; an option that is cut short is another one."""
    assert main(shlex.split(words)) == 2
    first, second = capsys.readouterr().err.splitlines()[:2]
    assert first == f"quiclab: {told}"
    assert second.startswith(f"  hint: {hint}")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_no_option_may_be_cut_short(verb: str) -> None:
    """No verb takes a beginning, which may be the whole name of an option elsewhere."""
    assert not (verbs()[verb] if verb else parser()).allow_abbrev


def test_options_of_a_command_to_be_run_are_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Other errors beside them are told as such."""
    assert main(["exec", "--mtu", "x", "curl", "--unheard-of"]) == 2
    assert "unheard-of" not in capsys.readouterr().err


def test_the_package_runs_as_a_module() -> None:
    """With the words of the command."""
    ran = subprocess.run([sys.executable, "-m", "quiclab", "--version"], check=True, capture_output=True, text=True)
    assert ran.stdout.startswith("quiclab ")


def test_words_may_follow_options() -> None:
    """Those that may be left out, too: a query after the format that it is printed in."""
    known = parser().parse_args(["sql", "study", "--format", "csv", "select 1"])
    assert (known.study, known.format, known.query) == (Path("study"), "csv", "select 1")


@pytest.mark.parametrize(
    ("started", "on_path", "name"),
    [
        ("{here}/bin/quiclab", None, "bin/quiclab"),
        ("{here}/bin/quiclab", "{here}/bin/quiclab", "quiclab"),
        ("{here}/bin/quiclab", "/elsewhere/quiclab", "bin/quiclab"),
        ("/opt/with space/quiclab", None, "'/opt/with space/quiclab'"),
        ("/usr/bin/pytest", None, "quiclab"),
        ("/src/quiclab/__main__.py", None, f"{sys.executable} -m quiclab"),
        ("/src/quiclab/cli/main.py", None, f"{sys.executable} -m quiclab"),
    ],
)
def test_commands_are_printed_as_they_can_be_copied(
    started: str, on_path: str | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name alone only where the shell finds this program by it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [started.format(here=tmp_path)])
    monkeypatch.setattr(own_name.shutil, "which", lambda _: on_path and on_path.format(here=tmp_path))
    own_name.own_name.cache_clear()
    try:
        assert as_typed("run it again: quiclab run x, or `quiclab --help`") == (
            f"run it again: {name} run x, or `{name} --help`"
        )
        kept = "a bug in quiclab; quiclab has verbs; .venv/bin/quiclab run x; src/quiclab runs"
        assert as_typed(kept) == kept
    finally:
        own_name.own_name.cache_clear()


@pytest.mark.parametrize("verb", verbs())
def test_a_value_may_begin_with_a_minus_sign(verb: str) -> None:
    """Every option that takes a value has its own reader judge one that begins with a minus sign."""
    own = verbs()[verb]
    takes = [each for each in own._actions if each.option_strings and each.nargs is None]
    for action in takes:
        for value in ("-5", "-5ms", "-.5%"):
            try:
                own.parse_known_args([action.option_strings[-1], value])
            except SpecError as error:
                assert "expected one argument" not in error.message


def _values() -> Iterator[tuple[str, str, list[str]]]:
    """Every option and word of a verb that takes a value: the verb, its name, and words that leave it empty."""
    for verb, its in verbs().items():
        for action in its._actions:
            takes = action.nargs in (None, argparse.OPTIONAL, argparse.ZERO_OR_MORE, argparse.ONE_OR_MORE)
            if takes and not isinstance(action, argparse._SubParsersAction):
                options = action.option_strings
                yield verb, (options[-1] if options else str(action.metavar)), [options[-1], ""] if options else [""]


@pytest.mark.parametrize(("verb", "name", "words"), list(_values()))
def test_an_empty_value_is_refused(verb: str, name: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An empty path would be the current directory, and an empty name nothing."""
    assert main([verb, *words]) == 2
    told = capsys.readouterr().err
    assert "is empty" in told
    assert name.startswith("-") <= (name in told)


def test_the_words_of_another_command_may_be_empty() -> None:
    """They are its own."""
    assert parser().parse_args(["exec", "--", "echo", ""]).command[-1] == ""


def test_every_wrong_value_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """All wrong values are listed: of a wrong type, not in a list of words, or empty."""
    assert main(["run", "x", "--jobs", "0", "--backend", "tum", "--out", "", "--at-most", "y"]) == 2
    told = capsys.readouterr().err
    for each in ("'0' is neither auto nor", "did you mean tun?", "the value of --out is empty", "'y'"):
        assert each in told
