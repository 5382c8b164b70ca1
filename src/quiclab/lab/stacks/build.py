# SPDX-License-Identifier: Apache-2.0
"""Build our own programs around QUIC libraries, from their lock files, in folders of our own."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from quiclab.lab.endpoints._stacks import LIBRARY_FOLDERS
from quiclab.lab.endpoints._versions import numbers
from quiclab.lab.stacks import kept
from quiclab.lab.stacks.catalogue import Build
from quiclab.model.errors import HostError

Tools = Callable[[], Path | None]
"""Callback that unpacks what a build needs, if it is not there yet, and returns the folder; None if the machine must
have it."""

_MADE = shutil.ignore_patterns("target")
_BEFORE = "before-"
"""Beginning of the name of a folder with what releases before a version share."""


class MissingToolError(HostError):
    """Something that a program needs is not on this machine: the program is left out, which is no failure unless it was
    named."""


def is_current(stacks: Path, build: Build, source: Path) -> bool:
    """True if the installed program was made from these sources."""
    try:
        return _stamp(stacks, build).read_text() == _digest(build, source) and _program(stacks, build).is_file()
    except OSError:
        return False


def take_kept(stacks: Path, build: Build, source: Path) -> bool:
    """Take the program that another checkout compiled from the same sources, if there is one, into `bin`."""
    (stacks / "bin").mkdir(parents=True, exist_ok=True)
    (stacks / "build").mkdir(exist_ok=True)
    fresh = _fresh(stacks, build)
    digest = _digest(build, source)
    if not kept.take(build.name, digest, fresh):
        return False
    _put(stacks, build, fresh, digest)
    return True


def compile_program(stacks: Path, build: Build, source: Path, tools: Tools) -> None:
    """Compile and put the program into `bin`, in one step."""
    if missing := [program for program in build.needs if shutil.which(program) is None]:
        raise MissingToolError(f"needs {' and '.join(missing)}", f"Debian: apt-get install -y {' '.join(missing)}")
    digest = _digest(build, source)
    work = stacks / "build" / _program(stacks, build).name
    work.mkdir(parents=True, exist_ok=True)
    made = _cargo(work, build, source, tools) if build.compiler == "cargo" else _go(work, build, source, tools)
    (stacks / "bin").mkdir(exist_ok=True)
    fresh = _fresh(stacks, build)
    shutil.copy(made, fresh)
    _put(stacks, build, fresh, digest)
    kept.keep(build.name, digest, _program(stacks, build))
    shutil.rmtree(work)


def _program(stacks: Path, build: Build) -> Path:
    return stacks / build.binaries[0].path


def _fresh(stacks: Path, build: Build) -> Path:
    program = _program(stacks, build)
    return program.with_name(f".{program.name}.new")


def _put(stacks: Path, build: Build, fresh: Path, digest: str) -> None:
    fresh.chmod(0o755)
    fresh.replace(_program(stacks, build))
    _stamp(stacks, build).write_text(digest)


def _cargo(work: Path, build: Build, source: Path, tools: Tools) -> Path:
    if shutil.which("cargo") is None:
        raise MissingToolError("needs Rust", "Debian 12: apt-get install -y rustc-web cargo-web")
    command = ("cargo", "build", "--release", "--locked")
    _compile(work, command, _module(work, build, source), {"CARGO_TARGET_DIR": str(work), **_library_tools(tools())})
    return work / "release" / build.binaries[0].name


def _library_tools(folder: Path | None) -> dict[str, str]:
    """Paths of CMake and libclang, for libraries that carry a C library."""
    if folder is None:
        return {}
    variables = {"PATH": f"{folder / 'usr/bin'}:{os.environ.get('PATH', '')}"}
    if found := sorted(folder.glob("usr/lib/**/libclang*.so*")):
        headers = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=False)
        variables |= {
            "LIBCLANG_PATH": str(found[0].parent),
            # libclang's own copies of the compiler's headers are in a package of 60 MB; the C compiler's will do.
            "BINDGEN_EXTRA_CLANG_ARGS": f"-isystem {headers.stdout.strip()}",
        }
    libraries = [str(path) for pattern in LIBRARY_FOLDERS for path in folder.glob(pattern) if path.is_dir()]
    return variables | ({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})


def _go(work: Path, build: Build, source: Path, tools: Tools) -> Path:
    needed = re.search(r"^go (\d+)\.(\d+)", (source / "go.mod").read_text(), re.MULTILINE)
    if needed is None:
        raise HostError(f"{source / 'go.mod'} does not say which Go it needs")
    compiler, wanted = shutil.which("go"), (int(needed[1]), int(needed[2]))
    here = _go_version(compiler) if compiler else (0, 0)
    if compiler is None or (here != wanted if build.folder else here < wanted):
        found = next(((tools() or work).glob("usr/lib/go-*/bin/go")), None)
        if found is None:
            newer = "" if build.folder else " or newer"
            raise MissingToolError(f"needs Go {needed[1]}.{needed[2]}{newer}", "https://go.dev/doc/install")
        compiler = str(found)
    variables = {
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
        "GOPATH": str(work / "path"),
        "GOCACHE": str(work / "cache"),
        "CGO_ENABLED": "0",
    }
    made = work / build.binaries[0].name
    command = (compiler, "build", "-trimpath", "-o", str(made), ".")
    _compile(work, command, _module(work, build, source), variables)
    return made


def _module(work: Path, build: Build, source: Path) -> Path:
    """Folder of a whole module or crate: compilers take no source from outside it, and releases share theirs. Of files
    of one name, that of the release counts, then the one of the folder of shared sources that is about the fewest."""
    base = base_folder(build, source)
    layers = [*([base] if base else []), *_shared(source), source]
    if not build.folder or layers == [source]:
        return source
    shutil.rmtree(work / "module", ignore_errors=True)
    module = work / "module" / layers[0].name
    for folder in layers:
        shutil.copytree(folder, module, ignore=_MADE, dirs_exist_ok=True)
    for crate in source_folders(source, base):
        if crate not in layers:
            shutil.copytree(crate, module / os.path.relpath(crate, layers[0]), ignore=_MADE)
    return module


def base_folder(build: Build, source: Path) -> Path | None:
    """Folder of the program of ours that a release is compiled from; None for others. `source` is the release's."""
    return source.parents[len(Path(build.source).parts) - 1] / build.base if build.base else None


def _shared(source: Path) -> list[Path]:
    """Folders with the sources that releases of a program share, those of the most releases first; none for other
    programs. `before-0.53` is about those before version 0.53."""
    common = source.parent / "shared"
    bounds = {folder: numbers(folder.name.removeprefix(_BEFORE)) for folder in source.parent.glob(f"{_BEFORE}*")}
    version = numbers(source.name)
    older = [folder for folder, bound in bounds.items() if version and version < bound]
    return [*([common] if common.is_dir() else []), *sorted(older, key=bounds.__getitem__, reverse=True)]


def _go_version(compiler: str) -> tuple[int, int]:
    said = subprocess.run([compiler, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _compile(work: Path, command: tuple[str, ...], source: Path, variables: Mapping[str, str]) -> None:
    log = work / "build.log"
    with log.open("w") as output:
        done = subprocess.run(
            command,
            cwd=source,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
            check=False,
        )
    if done.returncode != 0:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("error")), lines[-1] if lines else "no word")
        if " requires rustc " in said or "is not supported by" in said:
            raise MissingToolError(f"needs a newer Rust: {said}", "Debian 12: apt-get install -y rustc-web cargo-web")
        raise HostError(f"{command[0]} failed: {said}", f"all of it: {log}")


def _stamp(stacks: Path, build: Build) -> Path:
    return stacks / "build" / f"{build.binaries[0].name}.made-from"


def source_folders(source: Path, base: Path | None = None) -> tuple[Path, ...]:
    """Folders of everything of ours that a program is compiled from: its own, that of sources which releases of it
    share, that of the program that a release is made from, and those of crates that it uses by path."""
    folders = [source, *_shared(source), *([base] if base else [])]
    for folder in folders:
        # The manifest of a release takes the place of its program's.
        beside = base if base and folder == source else folder
        folders += [each for each in _crates_by_path(folder, beside) if each not in folders]
    return tuple(folders)


def _crates_by_path(folder: Path, beside: Path) -> list[Path]:
    """Crates that the manifest in a folder names by their paths from another."""
    manifest = folder / "Cargo.toml"
    needed = tomllib.loads(manifest.read_text()).get("dependencies", {}) if manifest.is_file() else {}
    paths = [each["path"] for each in needed.values() if isinstance(each, dict) and "path" in each]
    return [Path(os.path.normpath(beside / path)) for path in paths]


def _digest(build: Build, source: Path) -> str:
    """Digest of the names and contents of all sources."""
    total = hashlib.sha256()
    for folder in source_folders(source, base_folder(build, source)):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "target" not in path.relative_to(folder).parts:
                name = os.path.relpath(path, source)
                total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()
