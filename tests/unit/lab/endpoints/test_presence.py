# SPDX-License-Identifier: Apache-2.0
"""Programs that are missing or of another version, told with what was found and what to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from quiclab.lab.endpoints import look_for
from quiclab.lab.endpoints._api import BoundedRun
from quiclab.model.program import is_version
from quiclab.model.study import Arm, Program, Tcp
from quiclab.project import INSTALL, release_folder

ARM = Arm("h3", "h3", Program("curl-cffi"), Program("caddy"), Tcp("reno"))


def says(version: str) -> BoundedRun:
    """A runner of probes under which every program prints this."""

    def run(argv: Sequence[str]) -> str:
        return f"v{version} and more" if "version" in argv else f"{version} libcurl/{version}"

    return run


@pytest.mark.parametrize(
    ("found", "asked", "same"),
    [
        ("1.30.4", "1.30", True),
        ("1.30", "1.30", True),
        ("1.30.4", "1.3", False),
        ("1.26.3", "1.30", False),
        ("0.65.0 (Go 1.26.8)", "0.65.0", True),
        ("3.2.1-1+deb", "3.2.1", True),
    ],
)
def test_a_version_is_asked_for_by_its_beginning(found: str, asked: str, same: bool) -> None:
    """Number by number, not letter by letter."""
    assert is_version(found, asked) is same


def test_what_is_here_is_told_with_its_version() -> None:
    """Once for each program, under role and name."""
    presence = look_for([ARM, dataclasses.replace(ARM, name="again")], says("2.11.1"))
    assert presence.versions == {"client curl-cffi": "2.11.1 (libcurl/2.11.1)", "server caddy": "2.11.1"}
    assert presence.missing == ()


def test_what_is_missing_names_the_line_that_installs_it() -> None:
    """For each arm that asks for it."""
    missing = look_for([ARM], lambda _argv: None).missing
    assert [told.split(": ")[0] for told in missing] == ["arm 'h3'", "arm 'h3'"]
    assert all(told.endswith("run: make setup") for told in missing)


def test_another_version_is_looked_for_among_the_installed_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release that has it is named as the prefix to write."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path))
    for release in ("old", "new"):
        program = tmp_path / release / "usr" / "bin" / "caddy"
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)

    def run(argv: Sequence[str]) -> str:
        return f"v{'1.30.4' if str(tmp_path / 'new') in ' '.join(argv) else '1.26.3'} x"

    arm = dataclasses.replace(ARM, server=Program("caddy", version="1.30"))
    (told,) = look_for([arm], run).missing
    assert "the server caddy is 1.26.3" in told
    assert f'1.30.4 is installed; write prefix = "{tmp_path / "new"}"' in told


def test_a_release_that_is_not_here_names_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is not searched for another version, and the current one does not stand in for it."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path))
    server = Program("caddy", version="2.5.2", prefix=str(release_folder("caddy", "2.5.2")))
    (told,) = look_for([dataclasses.replace(ARM, server=server)], says("2.11.1")).missing
    assert told == f"arm 'h3': the server caddy 2.5.2 is not here: caddy is not installed; run: {INSTALL} caddy@2.5.2"


def test_the_beginning_of_a_release_is_told_in_full() -> None:
    """The line that installs it stands beside it."""
    (told,) = look_for([dataclasses.replace(ARM, server=Program("caddy", version="2.5"))], says("2.11.1")).missing
    assert told.endswith(f'not 2.5: write version = "2.5.2" and run: {INSTALL} caddy@2.5.2')


def test_two_releases_of_a_program_are_two_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each arm's is asked for its own version."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path))
    arms = []
    for version in ("2.5.2", "2.6.1"):
        folder = release_folder("caddy", version)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "caddy").touch(mode=0o755)
        arms.append(
            dataclasses.replace(ARM, name=version, server=Program("caddy", prefix=str(folder), version=version))
        )

    def run(argv: Sequence[str]) -> str:
        return f"v{next((v for v in ('2.5.2', '2.6.1') if v in argv[0]), '2.11.1')} x"

    found = look_for(arms, run)
    assert found.missing == ()
    assert [found.versions[f"server caddy of {release_folder('caddy', v)}"] for v in ("2.5.2", "2.6.1")] == [
        "2.5.2",
        "2.6.1",
    ]
