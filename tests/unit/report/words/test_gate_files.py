# SPDX-License-Identifier: Apache-2.0
"""JUnit XML and Markdown of a gate, and the terminal's table: numbers, widths, and names that hold markup."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from rich.console import Console
from synthetic_study import Shape, write_study

from quiclab.compare.builds.gate import Judgement, judge, parse_bound
from quiclab.compare.builds.setting import Difference
from quiclab.compare.builds.two_studies import StudiesCompared, compare_studies
from quiclab.compare.study import read_study
from quiclab.report.words.change_text import render_change
from quiclab.report.words.gate_files import junit_xml, markdown

Result = tuple[StudiesCompared, tuple[Judgement, ...]]


def result(folder: Path, old: Shape, new: Shape, differences: tuple[Difference, ...] = ()) -> Result:
    """Two synthetic studies by time to last byte, with a bound of 3 %."""
    studies = [read_study(write_study(folder / name, shape)) for name, shape in (("old", old), ("new", new))]
    found = compare_studies(studies[0], studies[1], ["ttlb_ms"], ["h2", "h3"], differences)
    return found, judge([(parse_bound("ttlb > +3%"), "ttlb_ms")], found.changes, found.alpha)


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """h3 takes 10 % longer in NEW; one cell of an arm has too few blocks that count, one has failures."""
    changed = (Difference("programs.x", "1", "2", ("h3",), "x", expected=True),)
    lost = Shape(lost=frozenset(("far/1 MB", "h3", block) for block in range(5)))
    return result(tmp_path_factory.mktemp("slower"), lost, Shape(seed=2, factors={"h3": 1.1}), changed)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Names and titles that would be markup, were they let."""
    workload = "<b>x</b> | `a` [red]*_&_\x07"
    path = {"name": "loss", "title": 'a "<img src=x>" ]]> [x](javascript:1)'}
    shape = Shape(workloads=(workload,), paths=("loss",), failures=frozenset(), voids=frozenset(), aa_blocks=0)
    named = {"paths": [path], "workloads": [{"name": workload}]}
    shapes = [replace(shape, resolved=named, seed=seed) for seed in (1, 2)]
    return result(tmp_path_factory.mktemp("hostile"), *shapes, (Difference("spec.<i>|", "[bold]", "*b*"),))


def rendered(of: Result, width: int) -> list[str]:
    """The lines that a terminal of this width shows."""
    out = io.StringIO()
    render_change(*of, Console(file=out, width=width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_shows_every_number(slower: Result, width: int) -> None:
    """First how trials pair up, then what changed; rows fit, and the gate says which cells failed and why."""
    lines = rendered(slower, width)
    assert lines[0].startswith("Paired: both studies have seed 1")
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.startswith("  5 MB")]
    assert len(rows) == 6
    assert [row.endswith("FAILED") for row in rows] == [False] * 3 + [True] * 3
    text = " ".join(lines)
    assert "Gate ttlb > +3%: FAILED 8 of 18 cells (9 passed, 1 not judged)." in text
    assert "Not judged: h3, 100 ms more RTT, 1 MB: Disturbed: 4 of 9 pairs" in text
    assert "a build that stays within its bounds: at most 2.5 % for all 17 cells together." in text
    assert "What else changed between the two studies is not in that chance" in text
    assert "h2, 1 % loss, 5 MB, NEW: 2 failed of 9 attempts." in text
    assert "h2 ran the same programs in both studies, and differs in 0 of 9 cells." in text


def test_the_floor_is_shown(slower: Result) -> None:
    """Of both studies."""
    assert "Noise floor of the time to last byte (A/A, an arm against itself): OLD 1." in " ".join(
        rendered(slower, 100)
    )


def test_an_arm_that_should_not_have_moved_is_a_warning(tmp_path: Path) -> None:
    """Where the arm whose build is the same is slower too, the machine or its surroundings are."""
    changed = (Difference("programs.x", "1", "2", ("h3",), "x", expected=True),)
    clean = Shape(paths=("clean",), failures=frozenset(), voids=frozenset())
    both = result(tmp_path, clean, replace(clean, seed=2, factors={"h2": 1.1, "h3": 1.1}), changed)
    text = " ".join(rendered(both, 100))
    assert "h2 ran the same programs in both studies, and differs in 3 of 3 cells" in text
    assert "Something other than the build changed" in text


def test_junit_counts_and_reasons(slower: Result) -> None:
    """A case per arm and cell; a failure says its interval, and what was not judged is an error that says why."""
    root = Xml.fromstring(junit_xml(*slower))
    (suite,) = root.findall("testsuite")
    assert suite.get("name") == "ttlb > +3%"
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "18", "failures": "8", "errors": "1", "skipped": "0"} == dict(root.items())
    failures = suite.findall("testcase/failure")
    assert len(failures) == 8
    assert all("beyond +3%" in (each.get("message") or "") for each in failures)
    (error,) = suite.findall("testcase/error")
    assert (error.get("message") or "").startswith("Disturbed: 4 of 9 pairs")
    names = [case.get("name") for case in suite.findall("testcase")]
    assert len(set(names)) == 18
    assert names[0] == "h2: nothing added, 100 KB"


def test_markup_in_names_stays_text_in_xml(hostile: Result) -> None:
    """The file parses, the names come back, and what XML cannot hold at all is replaced."""
    root = Xml.fromstring(junit_xml(*hostile))
    assert root.find("testsuite/testcase").get("name") == (  # type: ignore[union-attr]
        'h2: a "<img src=x>" ]]> [x](javascript:1), <b>x</b> | `a` [red]*_&_\N{REPLACEMENT CHARACTER}'
    )


def test_markup_in_names_stays_text_in_markdown(hostile: Result) -> None:
    """No tag, no link, no cell of its own: every row has as many cells as the heading."""
    text = markdown(*hostile)
    assert "<" not in text
    assert "[x](" not in text.replace("\\[", "")
    assert r"&lt;b&gt;x&lt;/b&gt; \| \`a\` \[red\]\*\_&amp;\_" in text
    assert r"spec.&lt;i&gt;\|: \[bold\] in OLD, \*b\* in NEW" in text
    rows = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {10}


def test_markup_in_names_stays_text_in_the_terminal(hostile: Result) -> None:
    """`[red]` colours nothing and is not swallowed."""
    assert "[red]" in " ".join(rendered(hostile, 100))


def test_markdown_begins_with_the_answer(slower: Result) -> None:
    """The gate first, each failed cell below it, then the table."""
    lines = markdown(*slower).splitlines()
    assert lines[2] == "- Gate ttlb &gt; +3%: FAILED 8 of 18 cells (9 passed, 1 not judged)."
    assert lines[3].startswith("  - h3, nothing added, 100 KB: Changed by +")
    assert sum(line.startswith("| h") for line in lines) == 18
