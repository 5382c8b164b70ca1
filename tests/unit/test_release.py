# SPDX-License-Identifier: Apache-2.0
"""One version everywhere, a release in the changelog for it, and studies of the version before that still open."""

from __future__ import annotations

import contextlib
import json
import re
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import quiclab
from quiclab import __version__
from quiclab.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
OURS = re.compile(r'name = "((?:link|log|py|stack)-\w+|twin)"\nversion = "([^"]+)"')


def toml(file: str) -> dict[str, object]:
    """Content of a file of the project."""
    return tomllib.loads((ROOT / file).read_text(encoding="utf-8"))


def test_all_parts_have_one_version() -> None:
    """The package, the crates, and their lock files."""
    told = {
        "pyproject.toml": toml("pyproject.toml")["project"]["version"],  # type: ignore[index]
        "Cargo.toml": toml("Cargo.toml")["workspace"]["package"]["version"],  # type: ignore[index]
        "CITATION.cff": re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[0],
        **{
            str(file.relative_to(ROOT)): tomllib.loads(file.read_text())["package"]["version"]
            for file in ROOT.glob("crates/stack-*/Cargo.toml")
        },
        **{
            f"{file.relative_to(ROOT)}: {name}": version
            for file in (ROOT / "Cargo.lock", *ROOT.glob("crates/**/Cargo.lock"))
            for name, version in OURS.findall(file.read_text(encoding="utf-8"))
            if name != "log-decode-fuzz"
        },
    }
    assert len(told) > 10
    assert {where: version for where, version in told.items() if version != __version__} == {}


def test_the_changelog_has_the_release_below_what_is_not_released() -> None:
    """With its date, and each kind of change once."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", headings[1])
    for release in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", release, flags=re.MULTILINE)
        assert len(set(kinds)) == len(kinds), release.splitlines()[0]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The recorded demo, which version 0.1.0 ran, in the current folder."""
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(ROOT / "docs" / "demo-study.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    with contextlib.chdir(folder):
        yield Path("demo-study")


def test_a_study_of_an_earlier_version_opens(earlier: Path) -> None:
    """Its host says which version it was, and its differences are there."""
    assert json.loads((earlier / "host.json").read_text())["quiclab"] == "0.1.0" != __version__
    study = quiclab.open(earlier)
    assert study.differences.height > 0
    assert study.differences["difference_pct"].null_count() < study.differences.height


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (("explain", "demo-study", "5MB/loss"), "10 Mbit/s, 20 ms, 1 % loss, 5MB: "),
        (("sql", "demo-study", "SELECT count(*) AS trials FROM trials"), "154"),
        (("figure", "cumulative", "demo-study", "-o", "figure.html"), "figure.html"),
    ],
)
def test_verbs_read_it(
    earlier: Path, command: tuple[str, ...], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the tables that it has: their logs are not here to be decoded anew."""
    assert main(list(command)) == 0
    assert printed in capsys.readouterr().out
