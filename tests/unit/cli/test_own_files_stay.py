# SPDX-License-Identifier: Apache-2.0
"""No verb overwrites files of the user's that it was not told to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers
from planned_confirmation import write
from specs import SMALL, written
from synthetic_study import write_study

from quiclab.cli.conformance import _refuse_foreign
from quiclab.cli.execute import check_log_folder
from quiclab.cli.main import main, parser
from quiclab.model.errors import DecodeError, SpecError
from quiclab.report.page.single_file import is_single_file
from quiclab.spec.read import read_study
from quiclab.study.tune.planning import plan_tuning
from quiclab.study.tune.tuning_plan import TuneRequest

_RECORDINGS = Path(__file__).parent / "recordings"


def _precious(folder: Path, *names: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("precious")
    return _content(folder)


def _content(folder: Path) -> dict[str, str]:
    return {str(each): each.read_text("latin-1") if each.is_file() else "" for each in folder.rglob("*")}


@pytest.mark.parametrize(
    "verb",
    [
        ("run", "SPEC", "--out"),
        ("trial", "SPEC", "--out"),
        ("conformance", "--clients", "curl", "--servers", "caddy", "--out"),
    ],
)
@pytest.mark.parametrize("name", ["report.html", "metrics.parquet", "notes.txt"])
def test_a_directory_that_is_not_quiclabs(
    tmp_path: Path, verb: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused before anything is written or removed."""
    spec = written(tmp_path, SMALL)
    before = _precious(tmp_path / "mine", name)
    words = [str(spec) if word == "SPEC" else word for word in verb]
    assert main([*words, str(tmp_path / "mine")]) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    assert name in capsys.readouterr().err


def test_a_search_for_settings_begins_beside_what_is_there(tmp_path: Path) -> None:
    """A file in the folder that a search would have stays, and the search takes the next one."""
    study = write(tmp_path / "study")
    (study / "tune").mkdir()
    before = _precious(study / "tune" / "1MB-p-h3-1", "tuning.json", "heat-1-round-1/spec.toml")
    request = TuneRequest(study, "1MB/p", "h3", 300.0, ("client", "server", "tcp"), ())
    plan = plan_tuning(request, read_study(study / "spec.toml", {}))
    assert plan.directory == study / "tune" / "1MB-p-h3-2"
    assert _content(study / "tune" / "1MB-p-h3-1") == before


OF_A_LOG = ("client.pcapng", "server.pcapng", "link.json", "link-config.json", "link.qplog")


@pytest.mark.parametrize(
    "names", [("client.pcapng",), ("link.json", "link.qplog"), ("link-config.json",), OF_A_LOG, ("notes.txt",)]
)
def test_logs_of_somebody_else(tmp_path: Path, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """`exec --log` takes a folder that is empty or has the files of an earlier one alone: neither files of the same
    names, which it would overwrite, nor others, with which its own would be mixed."""
    before = _precious(tmp_path / "mine", *names)
    assert main(["exec", "--log", str(tmp_path / "mine"), "--", "true"]) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    assert names[0] in capsys.readouterr().err


@pytest.mark.parametrize(("more", "mine"), [((), True), (("notes.txt",), False)])
def test_logs_of_an_earlier_exec_are_replaced(tmp_path: Path, more: tuple[str, ...], mine: bool) -> None:
    """They are, where nothing else is beside them."""
    _precious(tmp_path / "log", *OF_A_LOG, *more)
    (tmp_path / "log" / "link.qplog").write_bytes(b"QLPKTLOG" + bytes(8))
    if mine:
        check_log_folder(tmp_path / "log")
    else:
        with pytest.raises(SpecError, match="not of an earlier"):
            check_log_folder(tmp_path / "log")


def test_a_link_to_files_elsewhere_is_no_earlier_log(tmp_path: Path) -> None:
    """The files behind it would be overwritten."""
    _precious(tmp_path / "log", "link.qplog")
    (tmp_path / "log" / "link.qplog").write_bytes(b"QLPKTLOG")
    (tmp_path / "log" / "client.pcapng").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SpecError):
        check_log_folder(tmp_path / "log")


def test_notes_beside_what_a_command_replaces_as_a_whole(tmp_path: Path) -> None:
    """The tables of `decode --force`, and the results of `conformance`, are removed with their folder."""
    capture = writers.Capture("client")
    capture.add("down", 5, writers.udp("down", 30))
    log = tmp_path / "client.pcapng"
    log.write_bytes(capture.bytes())
    out = tmp_path / "tables"
    decode = ["decode", str(log), "-o", str(out)]
    assert main(decode) == 0
    before = _precious(out, "notes.txt")
    assert main([*decode, "--force"]) == SpecError.exit_code
    assert _content(out) == before
    (out / "notes.txt").unlink()
    assert main([*decode, "--force"]) == 0
    for number, names in enumerate((("conformance.json", "notes.txt"), ("conformance.json",), ("failed/mine",))):
        before = _precious(tmp_path / f"tried-{number}", *names)
        words = ["conformance", "--clients", "none", "--servers", "none", "--out", str(tmp_path / f"tried-{number}")]
        assert main(words) == SpecError.exit_code
        assert _content(tmp_path / f"tried-{number}") == before


def test_a_killed_conformance_leaves_a_folder_that_is_replaced(tmp_path: Path) -> None:
    """It is known by its mark, and what a user put beside the logs of a failed case stays all the same."""
    tried = tmp_path / "tried"
    _precious(tried, ".quiclab-conformance", "failed/case/trial.json")
    _refuse_foreign(tried)
    before = _precious(tried, "failed/mine")
    with pytest.raises(SpecError) as refused:
        _refuse_foreign(tried)
    assert refused.value.problems == ("failed/mine",)
    assert _content(tried) == before


def test_a_folder_of_tables_that_nobody_decoded_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of its files have names of tables: they are named all the same, also with --force."""
    capture = writers.Capture("client")
    capture.add("down", 5, writers.udp("down", 30))
    log = tmp_path / "client.pcapng"
    log.write_bytes(capture.bytes())
    before = _precious(tmp_path / "tables", "packets.parquet")
    assert main(["decode", str(log), "-o", str(tmp_path / "tables"), "--force"]) == SpecError.exit_code
    assert "packets.parquet" in capsys.readouterr().err
    assert _content(tmp_path / "tables") == before


def test_an_export_replaces_exports_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It knows its qlogs and HAR files by their content, and not by their names."""
    folder, file = tmp_path / "qlogs", tmp_path / "requests.har"
    qlog = ["export", "qlog", str(_RECORDINGS / "h3-client.sqlog.gz"), "-o", str(folder)]
    har = ["export", "har", str(_RECORDINGS / "h3.pcapng.gz"), str(_RECORDINGS / "h3.keys"), "-o", str(file)]
    for words in (qlog, har):
        assert main(words) == 0
        assert main([*words, "--force"]) == 0
    (folder / "mine.sqlog").write_text("mine")
    before = _content(folder)
    assert main([*qlog, "--force"]) == SpecError.exit_code
    assert "mine.sqlog" in capsys.readouterr().err
    assert _content(folder) == before
    file.write_text('{"mine": 1}')
    assert main([*har, "--force"]) == SpecError.exit_code
    assert file.read_text() == '{"mine": 1}'


WRITES = {
    "ask": {"--out"},
    "run": {"--out", "--events"},
    "paper": {"--out"},
    "report": {"--single-file"},
    "explain": {"--out"},
    "merge": {"study"},
    "compare": {"--out", "--junit", "--markdown"},
    "history": {"--out"},
    "figure": {"--out"},
    "decode": {"--out"},
    "export": {"--out"},
    "trial": {"--out"},
    "bundle": {"--out"},
    "exec": {"--log", "--control"},
    "probe": {"--out"},
    "conformance": {"--out", "--page"},
}
"""Verb → its words that name what is written. A folder is refused if anything of somebody else's is in it; a file that
is named with its own option is told to be written, and `--events` adds to one."""
READS = {
    "study", "spec", "parts", "old", "new", "files", "sources", "studies", "--h2", "--h3", "--page", "--keys",
    "--client", "--server", "--ca", "--trace", "--up-trace", "--down-trace", "--lost", "--repo",
    "--delay-trace", "--up-delay-trace", "--down-delay-trace",
    "--bin", "--path", "socket",
}  # fmt: skip
"""Words that name what is read, or a study in which a verb works."""


def test_every_place_that_is_written_to_is_known() -> None:
    """The command line names them: who adds an option for a place says here whether it is written to, and above what
    of the user's it leaves."""
    found: dict[str, set[str]] = {}
    for verb, its in parser().verbs.items():
        for action in its._actions:
            name = action.option_strings[-1] if action.option_strings else action.dest
            if action.type is Path or action.metavar in {"FILE", "FILE[:NAME]", "DIR", "FOLDER"}:
                found.setdefault(verb, set()).add(name)
    written = {verb: names & WRITES.get(verb, set()) for verb, names in found.items()}
    assert {verb: names for verb, names in written.items() if names} == WRITES
    assert set[str]().union(*(names - WRITES.get(verb, set()) for verb, names in found.items())) == READS


@pytest.mark.parametrize("verb", [("merge", "INTO", "PART"), ("export", "qlog", "PART", "-o", "INTO")])
def test_other_folders_of_somebody_else(tmp_path: Path, verb: tuple[str, ...]) -> None:
    """They are refused, too, whatever the sources are."""
    study = write_study(tmp_path / "study")
    before = _precious(tmp_path / "mine", "notes.txt", "report.html")
    words = [{"INTO": str(tmp_path / "mine"), "PART": str(study)}.get(word, word) for word in verb]
    assert main(words) in (SpecError.exit_code, DecodeError.exit_code)
    assert _content(tmp_path / "mine") == before


def test_data_beside_a_new_figure(tmp_path: Path) -> None:
    """A file that was not named is not replaced, except with its figure."""
    study = write_study(tmp_path / "study")
    before = _precious(tmp_path / "mine", "map.csv")
    words = ["figure", "differences", str(study), "-o", str(tmp_path / "mine" / "map.html")]
    assert main(words) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    (tmp_path / "mine" / "map.csv").unlink()
    assert main(words) == 0
    assert main(words) == 0
    (tmp_path / "mine" / "map.csv").write_text("precious,words\n")
    assert main(words) == SpecError.exit_code
    assert (tmp_path / "mine" / "map.csv").read_text() == "precious,words\n"


def test_a_figure_that_nobody_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its usual name may be that of a page of the user's."""
    study = write_study(tmp_path / "study")
    before = _precious(tmp_path / "mine", "differences.html")
    monkeypatch.chdir(tmp_path / "mine")
    words = ["figure", "differences", str(study)]
    assert main(words) == SpecError.exit_code
    assert _content(tmp_path / "mine") == before
    assert main([*words, "-o", "differences.html"]) == 0
    assert main(words) == 0


@pytest.mark.parametrize("text", ["", "<html><body>mine</body></html>"])
def test_a_page_of_somebody_else_is_no_report_in_one_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.html").write_text(text)
    assert not is_single_file(tmp_path / "page.html")
    assert not is_single_file(tmp_path)
