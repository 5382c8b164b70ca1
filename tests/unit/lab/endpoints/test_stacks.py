# SPDX-License-Identifier: Apache-2.0
"""Where programs are found and how they are started, on trees that the tests make."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from quiclab.lab.endpoints._stacks import STAMP, find_program, package_version


def _program(path: Path, content: bytes = b"\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for installed programs, and a machine with one program on its PATH."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path / "stacks"))
    monkeypatch.setenv("PATH", str(tmp_path / "machine"))
    _program(tmp_path / "machine" / "server")
    return tmp_path / "stacks"


def test_the_machines_program_is_the_last_resort(stacks: Path, tmp_path: Path) -> None:
    """Without an installed one, what the PATH names is started as it is."""
    started = find_program("server")
    assert started is not None
    assert started.argv == (str(tmp_path / "machine" / "server"),)
    assert not started.env
    assert find_program("no-such-server") is None


def test_an_installed_program_comes_before_the_machines(stacks: Path) -> None:
    """`bin` of the folder decides."""
    path = _program(stacks / "bin" / "server")
    started = find_program("server")
    assert started is not None
    assert started.argv == (str(path),)


def test_a_prefix_is_the_only_place_that_is_searched(stacks: Path, tmp_path: Path) -> None:
    """Whoever asks for another version must not silently get the installed one."""
    _program(stacks / "bin" / "server")
    prefix = tmp_path / "yesterday"
    assert find_program("server", str(prefix)) is None
    path = _program(prefix / "sbin" / "server")
    started = find_program("server", str(prefix))
    assert started is not None
    assert started.path == str(path)


@pytest.mark.parametrize("folder", ["", "bin", "sbin", "usr/lib/server", "usr/bin", "usr/sbin"])
def test_the_usual_folders_of_a_prefix_are_searched(tmp_path: Path, folder: str) -> None:
    """Of a release, of `make install`, and of an archive that is just unpacked."""
    path = _program(tmp_path / folder / "server")
    started = find_program("server", str(tmp_path))
    assert started is not None
    assert started.path == str(path)


def test_a_file_that_may_not_be_run_is_no_program(tmp_path: Path) -> None:
    """Nor is a folder of that name."""
    _program(tmp_path / "bin" / "server").chmod(0o644)
    (tmp_path / "usr" / "bin" / "server").mkdir(parents=True)
    assert find_program("server", str(tmp_path)) is None


def test_a_tree_with_a_loader_is_run_with_it_and_its_libraries(stacks: Path) -> None:
    """Libraries one folder deeper are found too, and OpenSSL keeps to the tree; every path is absolute."""
    tree = stacks / "release"
    libraries = tree / "usr" / "lib" / "x86_64-linux-gnu"
    loader = _program(libraries / "ld-linux-x86-64.so.2")
    _program(libraries / "libc.so.6")
    _program(libraries / "hidden" / "libmore.so.1")
    (libraries / "ossl-modules").mkdir()
    path = _program(tree / "usr" / "sbin" / "server")
    (stacks / "bin").mkdir()
    (stacks / "bin" / "server").symlink_to("../release/usr/sbin/server")
    started = find_program("server")
    assert started is not None
    assert started.argv[0] == str(loader)
    assert started.argv[-1] == started.path == str(path)
    assert started.argv[started.argv.index("--argv0") + 1] == "server"
    assert started.argv[started.argv.index("--library-path") + 1] == f"{libraries}:{libraries / 'hidden'}"
    assert started.env == {"OPENSSL_CONF": "/dev/null", "OPENSSL_MODULES": str(libraries / "ossl-modules")}


def test_a_tree_without_a_loader_only_lends_its_libraries(tmp_path: Path) -> None:
    """What belongs to the machine's own release runs with the machine's loader."""
    _program(tmp_path / "lib" / "libown.so.1")
    path = _program(tmp_path / "bin" / "server")
    started = find_program("server", str(tmp_path))
    assert started is not None
    assert started.argv == ("/usr/bin/env", f"LD_LIBRARY_PATH={tmp_path / 'lib'}", str(path))
    assert not started.env


def test_a_script_is_not_given_to_the_loader(tmp_path: Path) -> None:
    """The loader starts machine code only."""
    _program(tmp_path / "lib" / "ld-linux-x86-64.so.2")
    path = _program(tmp_path / "bin" / "server", b"#!/bin/sh\necho it runs\n")
    started = find_program("server", str(tmp_path))
    assert started is not None
    assert started.argv == (str(path),)
    assert subprocess.run(started.argv, capture_output=True, text=True, check=True).stdout == "it runs\n"


def test_a_program_with_a_loader_beside_it_really_runs(tmp_path: Path) -> None:
    """A tree made of this machine's own loader, C library and `echo`, started with nothing in the environment."""
    listed = subprocess.run(["ldd", "/bin/echo"], capture_output=True, text=True, check=True).stdout
    for word in listed.split():
        if word.startswith("/"):
            (tmp_path / "lib").mkdir(exist_ok=True)
            shutil.copy(word, tmp_path / "lib")
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/echo", tmp_path / "bin" / "echo")
    started = find_program("echo", str(tmp_path))
    assert started is not None
    assert len(started.argv) > 1
    done = subprocess.run(
        [*started.argv, "it", "runs"], env=dict(started.env), capture_output=True, text=True, check=True
    )
    assert done.stdout == "it runs\n"


def test_the_version_of_a_package_without_debians_additions(tmp_path: Path) -> None:
    """Epoch and Debian revision are no part of the version."""
    names = ["server_2%3a3.87.1-1+deb12u1_amd64", "other_1.11.0-1_amd64", "native_5_all"]
    (tmp_path / STAMP).write_text(json.dumps({"packages": names}))
    _program(tmp_path / "usr" / "bin" / "server")
    started = find_program("server", str(tmp_path))
    assert started is not None
    assert [package_version(started, name) for name in ("server", "other", "native")] == ["3.87.1", "1.11.0", "5"]
    assert package_version(started, "absent") is None
