# SPDX-License-Identifier: Apache-2.0
"""Commits of a user's repository as releases: which there are, and each of them built in a folder of ours.

His repository is only read: a clone of ours shares its objects, and every commit that is measured has a work tree of
that clone below the study.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.endpoints import find
from quiclab.model.errors import HostError, SpecError
from quiclab.model.study import Protocol, Role
from quiclab.spec.toml_text import Toml
from quiclab.store.disk import disk_errors
from quiclab.store.layout import BUILDS
from quiclab.study.history.history_plan import (
    MOST_RELEASES,
    HistoryPlan,
    Release,
    other_end,
    program_table,
    text_of,
)
from quiclab.study.question import Question, usable_name

_CLONE = ".repository"
_SHORT = 12
"""Characters of a commit's name that name its arm and its folder."""
_BUILD = "{build}"
"""Word in the command of a program of the user's own that stands for the folder of a commit's build."""


@dataclass(frozen=True)
class CommitChoice:
    """Request of a user for commits in place of releases."""

    repository: Path
    """Folder of the repository."""
    commits: str
    """Range `A..B`."""
    build: str
    """Command that builds a commit, run by a shell in a copy of its files."""
    folder: str = ""
    """Folder of the build in which the program is looked for."""
    argv: str | None = None
    """Command of a program of the user's own."""
    program: str | None = None
    """Name of a program that quiclab knows, of which these are builds."""
    role: Role = "server"
    protocol: Protocol | None = None
    other: str | None = None
    """Name of the program at the other end; None leaves the choice."""

    @property
    def title(self) -> str:
        """Name of the program for readers: that of the repository's folder where it is one's own."""
        return self.program or usable_name(self.repository.resolve().name)


def plan_commits(question: Question, choice: CommitChoice, builds: Path) -> HistoryPlan:
    """Plan the history of commits, each of which is built in a folder of its name in `builds`.

    Raises SpecError for a wrong range and for programs that cannot be, HostError where git or the other end is not
    here.
    """
    if (choice.program is None) == (choice.argv is None):
        raise SpecError(
            "commits need either the name of a program that quiclab knows, or --run with the command of your own",
            "quiclab history --help has an example of each",
        )
    if choice.argv is not None and _BUILD not in choice.argv:
        raise SpecError("--run does not name the build", f"write {_BUILD} for the folder of a commit's build")
    speaks = find(choice.role, choice.program).protocols if choice.program else frozenset({"h2", "h3"})
    protocol: Protocol = choice.protocol or ("h3" if "h3" in speaks else "h2")
    beside = other_end(choice.role, protocol, choice.other)
    releases = tuple(
        Release(name[:_SHORT], _program(choice, protocol, builds / name[:_SHORT]), date, subject)
        for name, date, subject in commits_of(choice.repository, choice.commits)
    )
    return HistoryPlan(
        choice.title, choice.role, protocol, question, releases, program_table(beside), text_of(beside), of_commits=True
    )


def make_folders(plan: HistoryPlan) -> None:
    """Make the folders that the arms of commits name, as far as they are not there: a spec names none that is not.
    Raises HostError where the disk refuses."""
    for release in plan.releases:
        if "prefix" in release.program:
            folder = Path(release.program["prefix"])
            with disk_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)


def commits_of(repository: Path, commits: str) -> list[tuple[str, str, str]]:
    """Commits of a range, the oldest first and its begin among them, as (name, date, first line of the message); of
    merges the first parents alone. Raises SpecError for a range that has none, or too many."""
    older, dots, newer = commits.partition("..")
    if not (older and dots and newer) or newer.startswith("."):
        raise SpecError(f"--range {commits}: this is no range", "write A..B, such as v1.2..main")
    first, last = (_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{each}^{{commit}}",
                        why=f"the repository has no commit {each}").strip() for each in (older, newer))  # fmt: skip
    names = _git(repository, "rev-list", "--reverse", "--first-parent", f"{first}..{last}").split()
    if not names:
        raise SpecError(f"--range {commits}: no commit of {newer} comes after {older}", "give the older one first")
    if len(names) >= MOST_RELEASES:
        raise SpecError(
            f"--range {commits} has {len(names)} commits",
            f"give a range of fewer than {MOST_RELEASES}, such as releases",
        )
    form = "--format=%H%x00%cs%x00%s"
    lines = _git(repository, "log", "--no-walk=unsorted", form, first, *names).splitlines()
    return [(name, date, subject) for name, date, subject in (line.split("\0", 2) for line in lines)]


def ready_commit(choice: CommitChoice, study: Path, tell: Callable[[str], None]) -> Callable[[str], str | None]:
    """Builder of commits for the study in a folder: each is built once; a reason is returned where that fails."""
    builds = study / BUILDS
    names = {name[:_SHORT]: name for name, _, _ in commits_of(choice.repository, choice.commits)}
    mark = hashlib.sha256(choice.build.encode()).hexdigest()

    def ready(short: str) -> str | None:
        folder, built = builds / short, builds / f"{short}.built"
        if built.is_file() and built.read_text() == mark and folder.is_dir():
            return None
        tell(f"building {short} …")
        _work_tree(choice.repository, builds, folder, names[short])
        log = builds / f"{short}.log"
        with log.open("w") as output:
            done = subprocess.run(
                ("sh", "-c", choice.build),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "QUICLAB_COMMIT": names[short]},
                check=False,
            )
        program = folder / choice.folder
        if done.returncode == 0 and not program.is_dir():
            return f"its build has no folder {choice.folder}"
        if done.returncode != 0:
            program.mkdir(parents=True, exist_ok=True)  # as its arm names it
            lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
            said = lines[-1] if lines else "no word"
            return f"it does not build (exit code {done.returncode}): {said}; all of it: {log}"
        built.write_text(mark)
        return None

    return ready


def _program(choice: CommitChoice, protocol: Protocol, folder: Path) -> Toml:
    """The program of a commit as a spec has it."""
    if choice.argv is None:
        return {"name": choice.program, "prefix": str(folder / choice.folder) if choice.folder else str(folder)}
    argv = [word.replace(_BUILD, str(folder)) for word in shlex.split(choice.argv)]
    return {"argv": argv, **({"ready": "udp" if protocol == "h3" else "tcp"} if choice.role == "server" else {})}


def _work_tree(repository: Path, builds: Path, folder: Path, commit: str) -> None:
    """Lay out the files of a commit in a folder, anew where it was there."""
    clone = builds / _CLONE
    if not clone.is_dir():
        builds.mkdir(exist_ok=True)
        _git(repository, "clone", "--quiet", "--shared", "--no-checkout", ".", str(clone.absolute()))
    shutil.rmtree(folder, ignore_errors=True)
    _git(clone, "worktree", "prune")
    if _missing(clone, commit):
        _git(clone, "fetch", "--quiet", "origin", commit)
    _git(clone, "worktree", "add", "--quiet", "--force", "--detach", str(folder.absolute()), commit)


def _missing(clone: Path, commit: str) -> bool:
    done = subprocess.run(("git", "-C", str(clone), "cat-file", "-e", commit), capture_output=True, check=False)
    return done.returncode != 0


def _git(repository: Path, *arguments: str, why: str = "") -> str:
    """Output of git in a repository. Raises HostError without git, SpecError with its last word where it refuses."""
    if not repository.is_dir():
        raise SpecError(f"--repo {repository}: there is no such folder", "name the folder of a git repository")
    try:
        done = subprocess.run(
            ("git", "-C", str(repository), *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={
                key: value
                for key, value in os.environ.items()
                if not re.fullmatch("GIT_(DIR|WORK_TREE|INDEX_FILE)", key)
            },
            check=False,
        )
    except FileNotFoundError:
        raise HostError("git is not here", "Debian: apt-get install -y git") from None
    if done.returncode != 0:
        said: Sequence[str] = [line for line in done.stderr.splitlines() if line.strip()]
        told = why or f"git {arguments[0]} failed" + (f": {said[-1].strip()}" if said else "")
        raise SpecError(f"--repo {repository}: {told}", "name the folder of a git repository that has these commits")
    return done.stdout
