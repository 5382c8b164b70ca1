# SPDX-License-Identifier: Apache-2.0
"""Building a program of our own, with the real compiler and a program of one line."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from quiclab.lab.stacks.build import MissingToolError, compile_program, is_current, source_folders, take_kept
from quiclab.lab.stacks.catalogue import Build
from quiclab.lab.stacks.kept import keep, take
from quiclab.model.errors import HostError

BUILD = Build("one-line", "one-line", "cargo")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for other checkouts stays in the test's folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A crate that prints its version."""
    folder = tmp_path / "one-line"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "one-line"\nversion = "1.2.3"\nedition = "2021"\n[workspace]\n'
    )
    (folder / "Cargo.lock").write_text('version = 3\n[[package]]\nname = "one-line"\nversion = "1.2.3"\n')
    (folder / "src" / "main.rs").write_text('fn main() { println!("{}", env!("CARGO_PKG_VERSION")); }\n')
    return folder


def _no_tools() -> None:
    """A crate without a C library needs none."""


def test_a_program_is_built_once_for_the_same_sources(tmp_path: Path, source: Path) -> None:
    """It lands in `bin`, nothing else is left of the build, and a changed source makes it out of date."""
    assert not is_current(tmp_path, BUILD, source)
    compile_program(tmp_path, BUILD, source, _no_tools)
    done = subprocess.run([tmp_path / "bin" / "one-line"], capture_output=True, text=True, check=True)
    assert done.stdout == "1.2.3\n"
    assert is_current(tmp_path, BUILD, source)
    assert not (tmp_path / "build" / "one-line").exists()
    (source / "src" / "main.rs").write_text("fn main() {}\n")
    assert not is_current(tmp_path, BUILD, source)


def test_a_changed_crate_that_it_uses_by_path_makes_a_program_out_of_date(tmp_path: Path, source: Path) -> None:
    """As its own sources do, and so does a crate that is used by that crate."""
    for name, needs in (("shared", 'below = { path = "../below" }\n'), ("below", "")):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "lib.rs").write_text("")
        (tmp_path / name / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\n{needs}'
        )
    manifest = source / "Cargo.toml"
    manifest.write_text(manifest.read_text() + '[dependencies]\nshared = { path = "../shared" }\n')
    subprocess.run(["cargo", "update", "--offline", "--quiet", "--workspace"], cwd=source, check=True)
    compile_program(tmp_path, BUILD, source, _no_tools)
    for name in ("shared", "below"):
        assert is_current(tmp_path, BUILD, source)
        changed = tmp_path / name / "src" / "lib.rs"
        changed.write_text("/// Changed.\npub struct Changed;\n")
        assert not is_current(tmp_path, BUILD, source)
        compile_program(tmp_path, BUILD, source, _no_tools)


def test_a_release_takes_the_files_of_its_program_that_it_does_not_have_itself(tmp_path: Path, source: Path) -> None:
    """A change of any of them makes it out of date: of the program's, of what releases share, and of its own."""
    release = tmp_path / "releases" / "one-line" / "1.0.0"
    shared = release.parent / "shared" / "src"
    for folder in (release / "src", shared):
        folder.mkdir(parents=True)
    (source / "src" / "main.rs").write_text(
        'mod own;\nmod ours;\nfn main() { println!("{}{}", own::SAID, ours::SAID); }\n'
    )
    (source / "src" / "own.rs").write_text('pub const SAID: &str = "current";\n')
    (source / "src" / "ours.rs").write_text('pub const SAID: &str = "current";\n')
    (shared / "own.rs").write_text('pub const SAID: &str = "shared";\n')
    (shared / "ours.rs").write_text('pub const SAID: &str = " by all";\n')
    (release / "src" / "own.rs").write_text('pub const SAID: &str = "older";\n')
    build = Build("one-line@1.0.0", "releases/one-line/1.0.0", "cargo", file="one-line", base="one-line")
    compile_program(tmp_path, build, release, _no_tools)
    done = subprocess.run([tmp_path / "bin" / "one-line"], capture_output=True, text=True, check=True)
    assert done.stdout == "older by all\n"
    for changed in (source / "src" / "main.rs", shared / "ours.rs", release / "src" / "own.rs"):
        assert is_current(tmp_path, build, release)
        before = changed.read_text()
        changed.write_text(f"{before}// Changed.\n")
        assert not is_current(tmp_path, build, release)
        changed.write_text(before)


def test_a_release_takes_what_those_before_a_version_share(tmp_path: Path) -> None:
    """The nearest bound has the last word; a bound that the release has reached says nothing to it."""
    releases = tmp_path / "releases" / "one-line"
    for name in ("0.40.1", "0.48.2", "0.53.0", "before-0.65", "before-0.53", "before-0.48", "shared"):
        (releases / name).mkdir(parents=True)
    told = {
        version: [folder.name for folder in source_folders(releases / version)[1:]]
        for version in ("0.40.1", "0.48.2", "0.53.0")
    }
    assert told == {
        "0.40.1": ["shared", "before-0.65", "before-0.53", "before-0.48"],
        "0.48.2": ["shared", "before-0.65", "before-0.53"],
        "0.53.0": ["shared", "before-0.65"],
    }


def test_a_program_that_does_not_compile_is_told_in_the_compilers_words(tmp_path: Path, source: Path) -> None:
    """And where all of it can be read; an older program stays."""
    compile_program(tmp_path, BUILD, source, _no_tools)
    (source / "src" / "main.rs").write_text("fn main() { nothing() }\n")
    with pytest.raises(HostError, match="cannot find function `nothing`") as raised:
        compile_program(tmp_path, BUILD, source, _no_tools)
    assert "nothing" in Path(raised.value.hint.removeprefix("all of it: ")).read_text()
    assert (tmp_path / "bin" / "one-line").is_file()


def test_a_program_that_the_machine_must_have_is_named_before_anything_is_built(tmp_path: Path, source: Path) -> None:
    """Minutes into the build would be too late."""
    build = dataclasses.replace(BUILD, needs=("sh", "no-such-compiler"))
    with pytest.raises(MissingToolError, match=r"^needs no-such-compiler$"):
        compile_program(tmp_path, build, source, _no_tools)
    assert not (tmp_path / "build").exists()


def test_a_machine_without_the_compiler_is_told_how_to_get_it(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is a reason, and not a failure."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingToolError, match="needs Rust") as raised:
        compile_program(tmp_path, BUILD, source, _no_tools)
    assert "apt-get install" in raised.value.hint


def test_another_checkout_takes_what_was_compiled_from_the_same_sources(tmp_path: Path, source: Path) -> None:
    """Without a compiler; other sources are compiled anew."""
    other = tmp_path / "other"
    assert not take_kept(other, BUILD, source)
    compile_program(tmp_path, BUILD, source, _no_tools)
    assert take_kept(other, BUILD, source)
    assert (other / "bin" / "one-line").read_bytes() == (tmp_path / "bin" / "one-line").read_bytes()
    assert is_current(other, BUILD, source)
    (source / "src" / "main.rs").write_text("fn main() {}\n")
    assert not take_kept(other, BUILD, source)
    assert not is_current(other, BUILD, source)


def test_what_was_kept_and_is_no_longer_whole_is_not_taken(tmp_path: Path, source: Path) -> None:
    """A disk that was full, or a file that somebody changed: the program is compiled as if nothing had been kept."""
    compile_program(tmp_path, BUILD, source, _no_tools)
    (kept,) = (file for file in (tmp_path / "cache" / "quiclab" / "programs").iterdir() if file.suffix != ".sha256")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert not take_kept(tmp_path / "other", BUILD, source)
    assert not (tmp_path / "other" / "bin" / "one-line").exists()


def test_a_few_versions_are_kept(tmp_path: Path) -> None:
    """The latest of each program."""
    program, folder = tmp_path / "program", tmp_path / "cache" / "quiclab" / "programs"
    for number in range(6):
        program.write_text(str(number))
        known = set(folder.glob("*"))
        keep("program", f"sources {number}", program)
        for file in set(folder.glob("*")) - known:
            os.utime(file, (number, number))  # a file system's clock ticks more slowly than this loop turns
    assert [take("program", f"sources {number}", tmp_path / "taken") for number in range(6)] == [False] * 2 + [True] * 4
    assert len(list(folder.iterdir())) == 2 * 4
