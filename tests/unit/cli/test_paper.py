# SPDX-License-Identifier: Apache-2.0
"""`quiclab paper`: what is listed and foretold, which names it takes, and how claims are told. Trials: tests/e2e."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest
from specs import SMALL, written
from synthetic_paper import CLEAR, UNTESTABLE, direction, number, write_paper
from synthetic_study import write_study

from quiclab.cli import paper
from quiclab.cli.main import main
from quiclab.cli.paper_document import HeadlineResult, JudgedStudy, StudyResult
from quiclab.cli.paper_judged import RunStudy, judge_study
from quiclab.cli.paper_text import closing_lines, result_lines, study_line
from quiclab.cli.status_document import TrialCounts
from quiclab.model.errors import ExitCode
from quiclab.model.plan_row import PlanRow
from quiclab.spec.headlines import read_headlines
from quiclab.spec.read import read_study
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study import paper_studies

_HELD = frozenset({"faster", "alike", "shape"})


def test_all_results_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with where it is in the paper, its sentence, and its studies or the reason why it has none."""
    assert main(["paper", "--list"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    known = read_headlines()
    for found in known.papers:
        assert f"{found.word}: {found.name}, {found.title}" in told
    for headline in known.headlines:
        assert f"{headline.id} {headline.where}: {' '.join(headline.text.split())}" in told
        assert headline.not_testable in told
        for cell in headline.studies:
            assert re.search(rf"{cell}: \d+ pairs, about [\d.]+ (s|min|h); --small 6 pairs, about", told), cell


def test_one_paper_is_listed_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A result behind it leaves that alone; --json has the same."""
    assert main(["paper", "--list", "liu", "L7b"]) == 0
    told = capsys.readouterr().out
    assert "L7b" in told
    assert "L7a" not in told
    assert main(["paper", "liu", "--list", "L7b", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    ((result,),) = [each["results"] for each in document["papers"]]
    assert (result["id"], result["studies"]) == ("L7b", ["liu-setup"])
    study = document["studies"]["liu-setup"]
    assert (study["whole"]["pairs"], study["small"]["pairs"], study["small"]["trials"]) == (40, 6, 24)


def test_a_dry_run_says_what_would_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size first, the other one beside it; nothing is written. It ends as the run would begin."""
    monkeypatch.chdir(tmp_path)
    code = main(["paper", "liu", "--small", "fig", "4c", "--dry-run"])
    told = capsys.readouterr()
    text = " ".join(told.out.split())
    assert text.startswith("Liu et al. 2024, Performance Comparison of HTTP/3")
    assert re.search(
        r"L2 and L3, in 2 studies --small: 6 pairs a cell, about \d+ \w+\. These are the fewest pairs that can decide "
        r"anything\. The paper's size: 8 pairs a cell, about [\d.]+ \w+\. ",
        text,
    )
    assert "studies/headlines/liu-severe-6-pairs" in text
    assert "With 6 blocks the smallest p is 0.031" in text
    assert list(tmp_path.iterdir()) == []
    assert code == (ExitCode.HOST if "cannot run" in told.err else ExitCode.OK)


def test_programs_that_are_missing_are_told_before_anything_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with what installs it; nothing is left behind. With --anyway nothing is left to run."""
    monkeypatch.setattr(paper_studies, "bounded_run", lambda argv: None)
    for more in ([], ["--anyway"]):
        out = tmp_path / "studies"
        assert main(["paper", "liu", "L7b", "--out", str(out), *more]) == ExitCode.HOST
        told = capsys.readouterr().err
        assert "1 of 1 studies cannot run: their programs are not here" in told
        assert re.search(r"liu-setup: the server nginx is not here: .*; run: \S+", told)
        assert "hint: install them" in told
        assert not out.exists()
    assert main(["paper", "--list", "liu", "L7b"]) == 0
    assert "cannot run here: the client curl is not here" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name a paper: yu-benson, liu, kakhki, benoit-holland, qin"),
        (["yu-bensen"], "did you mean yu-benson?"),
        (["yu-benson", "fig", "4d"], "near: Figure 4a, Figure 4b"),
        (["yu-benson", "--blocks", "3"], "paper has no option --blocks"),
        (["yu-benson", "Y1", "--minutes", "0"], "not a number of minutes"),
    ],
)
def test_wrong_words_get_one_error(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, with what is near; nothing on standard output."""
    assert main(["paper", *words]) == ExitCode.SPEC
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.count("quiclab: ") == 1
    assert captured.out == ""


def test_a_result_that_cannot_be_tested_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it can be run."""
    known = read_headlines()
    told = {"Q3": {"not_testable": "a count over other sites.", "claims": (), "but": ""}}
    changed = tuple(replace(each, **told.get(each.id, {})) for each in known.headlines)
    monkeypatch.setattr(paper_studies, "read_headlines", lambda: replace(known, headlines=changed))
    assert main(["paper", "qin", "Q3"]) == ExitCode.SPEC
    assert "Q3: a count over other sites." in capsys.readouterr().err


def test_without_the_results_an_installation_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package may have been built without what comes with it."""
    monkeypatch.setattr(paper_studies, "HEADLINES", tmp_path)
    assert main(["paper", "--list"]) == ExitCode.HOST
    assert "the papers' results did not come with quiclab" in capsys.readouterr().err


@pytest.fixture
def study_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyDir:
    """A study whose tables are made, of a paper with a claim of each verdict. Its ledger has no trials."""
    monkeypatch.setattr("quiclab.cli.analyse.make_tables_visibly", lambda *_, **__: None)
    directory = write_study(tmp_path / "study", CLEAR)
    write_paper(
        directory,
        direction("lower", why="caddy stands for their server"),
        direction("higher", id="wrong"),
        direction("lower", id="alike", paths=["clean"]),
        number("20 %", 19.5, 20.5, "%", id="advantage"),
        UNTESTABLE,
    )
    with open_ledger(StudyDir(directory)):
        pass
    return StudyDir(directory)


def test_a_study_is_judged_in_plain_values(study_dir: StudyDir, tmp_path: Path) -> None:
    """Claims are those of the report, which is written; no value needs a library that has threads to be read."""
    study = read_study(written(tmp_path, SMALL))
    judged = judge_study(RunStudy("cell", study, study_dir, ExitCode.OK, _HELD))
    by_id = {each.claim: each for each in judged.claims}
    assert {name: each.verdict for name, each in by_id.items()} == {
        "faster": "agrees", "wrong": "differs", "alike": "inconclusive", "advantage": by_id["advantage"].verdict,
        "shape": "not testable here",
    }  # fmt: skip
    faster = by_id["faster"]
    assert faster.ours_in_unit is not None
    assert faster.interval_in_unit is not None
    assert faster.interval_in_unit.low < faster.ours_in_unit < faster.interval_in_unit.high < 0
    assert (faster.n, faster.first_arm, faster.second_arm) == (20, "h2", "h3")
    assert faster.here.startswith("−2")
    assert faster.here.endswith("%), 20 pairs")
    assert by_id["shape"].why == "a shape is no metric"
    page = Path(judged.result.report).read_text()
    assert faster.here.partition(" (")[0] in page
    assert "H3 is faster." in page
    for library in (b"numpy", b"polars", b"quiclab.compare"):
        assert library not in pickle.dumps(judged)


@pytest.mark.parametrize(
    ("held", "code"),
    [
        ({"faster"}, ExitCode.OK),  # 100 KB over the lossy path, which lacks no pair
        ({"alike"}, ExitCode.NOT_JUDGED),
        ({"faster", "alike"}, ExitCode.NOT_JUDGED),
        ({"shape"}, ExitCode.OK),
    ],
)
def test_pairs_that_are_lacking_count_where_a_claim_is_open_for_want_of_them(
    study_dir: StudyDir, tmp_path: Path, held: set[str], code: ExitCode
) -> None:
    rows = [
        PlanRow(f"{number:016x}", "main", "100 KB/clean", "100 KB", "clean", arm, arm, "h2", 9, "9", 1, number)
        for number, arm in enumerate(("h2", "h3"))
    ]
    with open_ledger(study_dir) as ledger:
        ledger.plan(rows)
        for row in rows:
            ledger.record(Attempt(row.trial_id, 1, "void", "busy"))
    study = read_study(written(tmp_path, SMALL))
    judged = judge_study(RunStudy("cell", study, study_dir, ExitCode.NOT_JUDGED, frozenset(held)))
    assert judged.result.exit_code == code
    assert any("100 KB/clean (1 missing)" in note for note in judged.result.notes)


def _result(judged: JudgedStudy, *names: str) -> HeadlineResult:
    claims = tuple(each for each in judged.claims if each.claim in names)
    limits = ("Less than the paper says: one page.",)
    return HeadlineResult("Y1", "4.1, Figure 4", "H3 is faster.", claims, (), "", "Envoy stands in.", limits)


def test_claims_are_told_with_the_paper_beside_ours(study_dir: StudyDir, tmp_path: Path) -> None:
    """Verdict, what is tested, our number with interval and pairs, the reason where it does not agree, and the sum."""
    judged = judge_study(RunStudy("cell", read_study(written(tmp_path, SMALL)), study_dir, ExitCode.OK, _HELD))
    lines = list(result_lines([_result(judged, "faster", "alike", "shape")]))
    (here,) = [each.here for each in judged.claims if each.claim == "faster"]
    assert lines[:4] == [
        "",
        "Y1 (4.1, Figure 4): H3 is faster.",
        "  agrees: time to last byte: h3 lower than h2; 100 KB, loss; cell",
        f"      here {here}",
    ]
    text = "\n".join(lines)
    assert "  inconclusive: time to last byte: h3 lower than h2; 100 KB, clean; cell\n      here " in text
    assert "pairs: No difference was found" in text
    assert "  not testable here: The waterfall is steep.; cell\n      a shape is no metric" in text
    assert "      not quite the paper's: caddy stands for their server" in lines
    assert lines[-3:] == [
        "  Of 3 claims: agrees 1, inconclusive 1, not testable here 1.",
        "  Less than the paper says: one page.",
        "  Known before: Envoy stands in.",
    ]
    assert study_line(judged).startswith("cell: Of 5 claims: ")


def test_what_was_not_run_is_told() -> None:
    """A study that the time did not reach, and a result that no study can be held against."""
    left = HeadlineResult("Y1", "4", "Text.", (), ("cell", "other"), "", "A note.", ())
    never = HeadlineResult("B1", "3", "Text.", (), (), "no counterpart.", "", ())
    text = "\n".join(result_lines([left, never]))
    assert "  not run: cell and other" in text
    assert "  not testable here: no counterpart." in text


@pytest.mark.parametrize("small", [True, False])
def test_what_is_kept_and_how_far_it_carries_is_told(small: bool, tmp_path: Path) -> None:
    """Few pairs are told as few, with the command of the paper's size."""
    counts = TrialCounts(24, 22, 0, 0, 2, 0, 0)
    cell = StudyResult("cell", "/kept/cell", "/kept/cell/report.html", 8, 6, counts, ("A note.",))
    text = "\n".join(closing_lines([cell], small=small, whole="quiclab paper yu-benson 4a"))
    assert "cell: A note." in text
    assert "kept: /kept/cell (6 pairs, 22 of 24 trials count)\n  report: /kept/cell/report.html" in text
    assert ("Few pairs" in text) == small
    assert ("The paper's size: quiclab paper yu-benson 4a" in text) == small


@pytest.mark.parametrize(
    ("codes", "code"),
    [([0, 0], 0), ([0, 8, 0], 8), ([8, 1, 0], 1), ([1, 130], 130), ([0, 3], 3), ([], 0)],
)
def test_the_worst_end_of_a_study_is_the_end(codes: list[int], code: int) -> None:
    """The one that stopped the run comes first; then failures before trials that stayed disturbed."""
    assert paper._code_of_all(codes) == code
