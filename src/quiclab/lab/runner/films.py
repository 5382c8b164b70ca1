# SPDX-License-Identifier: Apache-2.0
"""The files of videos: made once by ffmpeg, kept in the user's cache directory, lent to the server's files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from quiclab.lab.endpoints._stacks import Launch, find_program
from quiclab.lab.endpoints.clients._player import DASH_JS
from quiclab.lab.testbed import _libc
from quiclab.lab.workloads import Film
from quiclab.model.errors import HostError
from quiclab.model.study import Workload
from quiclab.project import MORE_PROGRAMS, stacks_folder

_INSTALL = f"{MORE_PROGRAMS} (or Debian: apt-get install -y ffmpeg)"
_PATIENCE_S = 3600


def check_players(workloads: Iterable[Workload]) -> None:
    """Raises HostError where a video cannot be played as its spec says."""
    script = stacks_folder() / "players" / DASH_JS
    if any(each.video is not None and each.video.delivery == "dash" for each in workloads) and not script.is_file():
        raise HostError("there is no dash.js, which plays DASH", MORE_PROGRAMS)


def lend(film: Film, folder: Path) -> None:
    """Put the video's files into `folder`, by a mount: they may have gigabytes. Must run inside the sandbox."""
    made = make(film)
    for file in made.iterdir():
        with file.open("rb") as content:  # so that no trial waits for the disk
            os.posix_fadvise(content.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    folder.mkdir()
    _libc.mount(str(made), str(folder), None, _libc.MS_BIND)


def make(film: Film) -> Path:
    """The folder with the files, made now if they are not there. Raises HostError where that cannot be."""
    ffmpeg = find_ffmpeg()
    if ffmpeg is None:
        raise HostError("there is no ffmpeg, which makes the videos", _INSTALL)
    version = _run(ffmpeg, ("-version",), Path.cwd()).splitlines()[0]
    name = f"{film.key}-{hashlib.sha256(version.encode()).hexdigest()[:8]}"
    shelf = cache_folder()
    made = shelf / name
    if made.is_dir():
        return made
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=shelf, ignore_cleanup_errors=True) as scratch:
            part = Path(scratch, "part")
            part.mkdir()
            for step in film.steps:
                _run(ffmpeg, step, part)
            for file in film.scratch:
                (part / file).unlink()
            part.chmod(0o755)  # servers run as another user
            for made_file in part.iterdir():
                made_file.chmod(0o644)
            with contextlib.suppress(FileExistsError):  # another study made the same meanwhile
                part.rename(made)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise HostError(f"the video cannot be kept in {shelf}: {error.strerror}", "set XDG_CACHE_HOME") from error
    return made


def cache_folder() -> Path:
    """Folder of the cache: $XDG_CACHE_HOME/quiclab/videos, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "quiclab", "videos")


def find_ffmpeg() -> Launch | None:
    """Find the ffmpeg of the Python package, whose version is pinned, else the machine's."""
    spec = find_spec("imageio_ffmpeg")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder, "binaries").glob("ffmpeg-*")):
            return Launch((str(path),), path=str(path))
    return find_program("ffmpeg")


def _run(ffmpeg: Launch, arguments: tuple[str, ...], folder: Path) -> str:
    done = subprocess.run(
        [*ffmpeg.argv, *arguments],
        cwd=folder,
        env={**os.environ, **ffmpeg.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise HostError(f"ffmpeg failed: {said}", f"it ran as {' '.join((*ffmpeg.argv, *arguments))}")
    return done.stdout
