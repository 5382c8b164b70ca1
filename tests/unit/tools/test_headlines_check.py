# SPDX-License-Identifier: Apache-2.0
"""What is broken, or only a part, is refused with one error that names the file."""

from __future__ import annotations

import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import headlines
import pytest
from headlines_check import read_all
from headlines_results import CELLS

from quiclab.model.errors import SpecError

ROOT = pathlib.Path(__file__).resolve().parents[3]

CELL = "kak-cellular"
Break = Callable[[pathlib.Path], object]


def _without(text: str) -> Break:
    """Take lines with this text out of a file."""
    return lambda file: file.write_text(
        "".join(line for line in file.read_text().splitlines(keepends=True) if text not in line)
    )


def _instead(old: str, new: str) -> Break:
    def change(file: pathlib.Path) -> None:
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return change


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of all cells."""
    return pathlib.Path(shutil.copytree(CELLS, tmp_path / "headlines"))


def test_the_kept_results_are_whole(folder: pathlib.Path) -> None:
    """A cell without results has not been run, and one to be made anew is not read."""
    assert read_all(folder)[1][CELL].claims
    shutil.rmtree(folder / CELL / "results")
    assert not read_all(folder)[1][CELL].claims
    assert CELL not in read_all(folder, without=[CELL])[1]


@pytest.mark.parametrize(
    ("name", "breaking", "told"),
    [
        ("headlines.toml", lambda file: file.write_text("= 1"), "headlines.toml is not TOML"),
        ("headlines.toml", pathlib.Path.unlink, "headlines.toml cannot be read"),
        ("headlines.toml", _instead('"kak-cellular:lte"', '"kak-nosuch:lte"'), "what there is not: kak-nosuch:lte"),
        ("headlines.toml", _instead('"kak-cellular:lte"', '"kak-cellular:5g"'), "what there is not: kak-cellular:5g"),
        ("headlines.toml", _instead('["qin-site-25:low-page-25-caddy"]', '["qin-site-25:no"]'), "not: qin-site-25:no"),
        ("headlines.toml", _instead('cause_of = "kak-mspc:moderate"', 'cause_of = "kak-mspc:x"'), "kak-mspc:x, which"),
        ("headlines.toml", _instead('"kak-cellular:lte"', '"kak-cellular"'), '"kak-cellular" is a string; write'),
        ("headlines.toml", _instead('id = "Y1"', 'id = "Z1"'), "Z1, whose letter is of no paper"),
        ("headlines.toml", _instead('id = "Y1"', 'id = "Y1"\nfoo = 1'), "foo: there is no such key here"),
        (f"{CELL}/paper.toml", lambda file: file.write_text("= 1"), "paper.toml is not TOML"),
        (f"{CELL}/spec.toml", lambda file: file.write_text("= 1"), "is not TOML"),
        (f"{CELL}/results/claims.csv", _without("verizon-3g"), "no row of 3g for 200KB, verizon-3g"),
        (f"{CELL}/results/claims.csv", _without("200KB"), "claims.csv has no row of"),
        (f"{CELL}/results/claims.csv", _instead(",agrees,", ",blah,"), "a verdict that there is not: blah"),
        (f"{CELL}/results/claims.csv", pathlib.Path.unlink, "claims.csv is missing"),
        (f"{CELL}/results/claims.csv", lambda file: file.write_text(""), "results cannot be read"),
        (f"{CELL}/results/claims.csv", lambda file: file.write_bytes(b"\xff\x00\n\xfe"), "results cannot be read"),
        (f"{CELL}/results/differences.csv", pathlib.Path.unlink, "differences.csv is missing"),
        (f"{CELL}/results/spec.toml", pathlib.Path.unlink, "spec.toml is missing"),
        (f"{CELL}/results/host.json", pathlib.Path.unlink, "results cannot be read"),
        (f"{CELL}/results/host.json", lambda file: file.write_text("[]"), "host.json lacks programs"),
        (f"{CELL}/results/host.json", lambda file: file.write_text("{"), "results cannot be read"),
    ],
)
def test_what_is_broken_is_named(folder: pathlib.Path, name: str, breaking: Break, told: str) -> None:
    """A lost row can better a verdict: nothing is written from a part."""
    breaking(folder / name)
    with pytest.raises(SpecError) as caught:
        read_all(folder)
    assert told in "\n".join([caught.value.message, *caught.value.problems])


def test_a_claim_that_was_written_since_needs_no_row(folder: pathlib.Path) -> None:
    """Claims that were measured are kept with the results; of these none may be lost, whatever was added."""
    claims = folder / CELL / "paper.toml"
    shutil.copy(claims, folder / CELL / "results" / "paper.toml")
    of_lte = claims.read_text().split("[[claim]]")[1]
    new = of_lte.replace('id = "', 'id = "new-', 1)
    claims.write_text(f"{claims.read_text()}\n[[claim]]{new}")
    results = read_all(folder)[1][CELL]
    added = next(name for name in results.lacking if name.startswith("new-"))
    assert added not in results.claims
    (folder / CELL / "results" / "paper.toml").unlink()
    with pytest.raises(SpecError, match=r"claims\.csv has no row of new-"):
        read_all(folder)


def test_a_study_of_fewer_blocks_is_not_kept(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two pairs never take the place of twelve."""
    study = tmp_path / CELL
    (study / "report" / "data").mkdir(parents=True)
    (study / "report" / "data" / "claims.csv").write_text("claim\n")
    (study / "resolved.json").write_text('{"blocks": 2}')
    monkeypatch.setattr(headlines, "STUDIES", tmp_path)
    assert headlines.main(["keep", CELL]) == 1
    assert f"{CELL} was run with 2 of its 12 blocks" in capsys.readouterr().err


def test_what_ends_the_tool_ends_what_it_runs(tmp_path: pathlib.Path) -> None:
    """No run goes on behind a tool that was told to end."""
    sleeping = f"open({str(tmp_path / 'there')!r}, 'w').close(); import time; time.sleep(60)"
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import headlines; "
        f"sys.exit(-headlines._run_to_its_end([sys.executable, '-c', {sleeping!r}]))"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as tool:
        deadline = time.monotonic() + 60
        while not (tmp_path / "there").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        tool.terminate()
        assert tool.wait(30) == signal.SIGTERM
