# SPDX-License-Identifier: Apache-2.0
"""`quiclab ask`: what is a question, and that a wrong one is refused before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.cli.ask_options import read_programs, read_question
from quiclab.cli.main import main, parser
from quiclab.lab.endpoints import names_by_role
from quiclab.model.errors import ExitCode, SpecError
from quiclab.model.study import Path as NetworkPath
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.outage import mean_loss
from quiclab.spec.profiles import profiles
from quiclab.spec.read import read_study
from quiclab.study.contenders import ProgramChoice, contenders
from quiclab.study.question import Question


def _question(*words: str) -> Question:
    return read_question(parser("ask").parse_args(["ask", *words]))


def test_a_question_is_a_workload_and_a_path() -> None:
    """In the spec's own forms, whatever the user's; what is not said has a default."""
    found = _question("--size", "300KB", "--rtt", "40ms", "--loss", "0.5%", "--rate", "20mbit")
    assert found.workload == {"name": "300KB", "size": "300 KB"}
    assert found.path == {
        "name": "40ms",
        "title": "20 Mbit/s, RTT 40 ms, 0.5 % loss",
        "rate": "20 Mbit/s",
        "rtt": "40 ms",
        "loss": "0.5 %",
    }
    assert found.name == "ask-300KB-40ms"
    assert _question("--size", "1MB", "--rtt", "40ms", "--loss", "0%").path["title"] == "50 Mbit/s, RTT 40 ms"


def test_a_missing_page_is_told_as_a_har_file(tmp_path: Path) -> None:
    """A question has no spec that a name could be relative to."""
    with pytest.raises(SpecError) as error:
        _question("--page", str(tmp_path / "missing.har"), "--rtt", "40ms")
    (told,) = error.value.problems
    assert "missing.har" in told
    assert "HAR file" in told
    assert "spec" not in told


def test_objects_uploads_and_profiles() -> None:
    """A profile brings its rate and delay; what is said beside it overrides it."""
    several = _question("--size", "20 KB", "--count", "20", "--profile", "verizon-lte")
    assert several.workload == {"name": "20x20KB", "size": "20 KB", "count": 20}
    assert several.path.keys() == {"name", "title", "profile"}
    up = _question("--size", "5MB", "--upload", "--profile", "verizon-lte", "--rtt", "30ms")
    assert up.workload == {"name": "5MB-upload", "size": "5 MB", "direction": "upload"}
    assert up.path["name"] == "verizon-lte-30ms"
    assert up.path["title"] == "Verizon LTE: 4 Mbit/s, 62 (14) ms, but RTT 30 ms"


@pytest.mark.parametrize("profile", list(profiles()))
def test_options_override_what_a_profile_has(tmp_path: Path, profile: str) -> None:
    """Rate, round-trip time and loss, each way, whatever the profile has in their place: no loss, too."""
    spec = tmp_path / "spec.toml"

    def path_of(*words: str) -> NetworkPath:
        question = _question("--size", "10KB", "--profile", profile, *words)
        arms = contenders(question.asked, *(ProgramChoice("curl-cffi", "caddy"),) * 2)
        spec.write_text(question.spec(arms, "mine"))
        return read_study(spec, names_by_role()).paths[0]

    path = path_of("--rate", "7mbit", "--rtt", "33ms", "--loss", "2%")
    assert path.base_rtt == Duration(33_000_000)
    for direction in (path.up, path.down):
        assert direction.rate == Bitrate(7_000_000)
        assert str(direction.loss) == "2 %"
    without = path_of("--loss", "0%")
    assert mean_loss(without.up.loss) == mean_loss(without.down.loss) == 0
    assert (without.up.rate, without.base_rtt) == (path_of().up.rate, path_of().base_rtt)


def test_a_page_is_that_of_a_har(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its whole path, as the spec is kept elsewhere; one that is no HAR is refused by the option's name."""
    response = {"status": 200, "content": {"mimeType": "text/html"}, "bodySize": 1000}
    entry = {"request": {"url": "https://server/"}, "response": response, "timings": {"wait": 5}}
    (tmp_path / "my shop.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    monkeypatch.chdir(tmp_path)
    found = _question("--page", "my shop.har", "--rtt", "40ms")
    assert found.workload == {"name": "my-shop", "kind": "page", "page": {"har": str(tmp_path / "my shop.har")}}
    assert found.asked.page is not None
    (tmp_path / "none.har").write_text("{}")
    with pytest.raises(SpecError) as caught:
        _question("--page", "none.har", "--rtt", "40ms")
    assert caught.value.problems[0].startswith("--page: ")


def test_programs_of_each_arm() -> None:
    """Both, or one of them beside those of the other."""
    words = ["ask", "--client", "curl", "--server", "nginx", "--h3", "quiche/quiche"]
    h2, h3 = read_programs(parser("ask").parse_args(words))
    assert (h2, h3) == (ProgramChoice("curl", "nginx"), ProgramChoice("quiche", "quiche"))


_ENOUGH = ("--size", "300KB", "--rtt", "40ms")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), ("--size 300KB", "--rtt 40ms")),
        (("--size", "300KB"), ("over which network",)),
        (("--size", "300", "--rtt", "40", "--loss", "2"), ("--size: ", "--rtt: ", "--loss: ")),
        ((*_ENOUGH, "--rate", "fast", "--count", "x"), ("--rate: ", "--count: ")),
        ((*_ENOUGH, "--count", "1000"), ("--count: 1000 is out of range",)),
        ((*_ENOUGH, "--profile", "verizon"), ("--profile: ", "did you mean")),
        ((*_ENOUGH, "--page", "nowhere.har"), ("--page: ",)),
        (("--rtt", "40ms", "--page", __file__), ("--page",)),
        ((*_ENOUGH, "--h3", "curl"), ("CLIENT/SERVER",)),
        ((*_ENOUGH[:3], "40", "--h2", "a/b/c", "--h3", "/b"), ("--rtt: ", "--h2: a/b/c", "--h3: /b")),
        (("--page", "", "--out", "", "--minutes", "x"), ("of --page is empty", "of --out is empty", "'x' is not a")),
        ((*_ENOUGH, "--h2", "a/b", "--h3", "a/b", "--client", "curl"), ("--client is for both arms",)),
        ((*_ENOUGH, "--client", "curl-cfi"), ("did you mean 'curl-cffi'",)),
        (
            (*_ENOUGH, "--client", "curl-cfi", "--server", "cady", "--h3", "quice/quiche"),
            ("did you mean 'curl-cffi'", "did you mean 'caddy'", "called 'quice'"),
        ),
        ((*_ENOUGH, "--minutes", "soon"), ("'soon' is not a number of minutes",)),
        ((*_ENOUGH, "--minutes", "0"), ("is not a number of minutes",)),
        ((*_ENOUGH, "--minutes", "nan"), ("is not a number of minutes",)),
        ((*_ENOUGH, "--minutes", "\uff13"), ("is not a number of minutes",)),
        ((*_ENOUGH, "--count", "\uff13"), ("--count: ",)),
        ((*_ENOUGH, "--minutes", "0.01"), ("--minutes 0.01 is too few", "give --minutes 1 or more")),
        (("--siz", "300KB"), ("did you mean --size",)),
        ((*_ENOUGH, "--loss", "100%"), ("every packet is lost", "write less than 100 %")),
        (
            ("--size", "900MB", "--rtt", "40ms", "--rate", "1mbit"),
            ("no trial of this question can end in time", "7,200 s"),
        ),
        (("--size", "5MB", "--rtt", "40ms", "--rate", "2mbit"), ("--minutes 3 is too few",)),
    ],
)
def test_a_wrong_question(
    tmp_path: Path,
    words: tuple[str, ...],
    told: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every offender is named, and no folder is made."""
    monkeypatch.chdir(tmp_path)
    assert main(["ask", *words]) == ExitCode.SPEC
    error = capsys.readouterr().err
    for each in told:
        assert each in error
    assert not [*tmp_path.iterdir()]


def test_a_folder_of_the_users_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no study, whatever the names in it."""
    (tmp_path / "spec.toml").write_text("precious")
    assert main(["ask", *_ENOUGH, "--server", "caddy", "--out", str(tmp_path)]) == ExitCode.SPEC
    assert "is no study" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["spec.toml"]
    assert (tmp_path / "spec.toml").read_text() == "precious"
