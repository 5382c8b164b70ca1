# SPDX-License-Identifier: Apache-2.0
"""The studies that results of papers are held against, at the paper's size or with few pairs; programs, time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.endpoints import look_for, names_by_role, objections_to
from quiclab.lab.endpoints.senders import senders_of
from quiclab.lab.testbed.host import bounded_run
from quiclab.model.errors import HostError
from quiclab.model.study import Study
from quiclab.model.units import Duration
from quiclab.plan.size import plan_size
from quiclab.project import SET_UP
from quiclab.spec.fewer_pairs import small_name, small_spec, small_study
from quiclab.spec.headlines import HEADLINES, Headlines, read_headlines
from quiclab.spec.read import read_study
from quiclab.study.specs import with_versions


@dataclass(frozen=True)
class Foretold:
    """Size of a study's plan."""

    pairs: int
    """Pairs of each of its comparisons."""
    trials: int
    """Trials, those of an A/A control included."""
    expected: Duration
    """Expected time of all trials, one after another."""


@dataclass(frozen=True)
class PaperStudy:
    """A study that comes with quiclab, at both of its sizes."""

    name: str
    file: Path
    """Spec at the paper's size."""
    whole: Study
    missing: tuple[str, ...]
    """Programs that are not here, each with what installs it; and what the programs of an arm cannot do."""
    versions: dict[str, str]
    """Versions of the programs that are here, as `look_for` has them."""

    def sized(self, *, small: bool) -> Study:
        """The study at one of its sizes."""
        return small_study(self.whole) if small else self.whole

    def foretold(self, *, small: bool) -> Foretold:
        """Size of the plan, with the time as `quiclab plan` expects it of the programs that are here."""
        study = self.sized(small=small)
        size, senders = plan_size(study), senders_of(with_versions(study, self.versions))
        return Foretold(study.blocks, size.trials, size.expected(study, senders))

    def folder(self, out: Path, *, small: bool) -> Path:
        """Directory of the study below `out`: each size has one of its own."""
        return out / (small_name(self.name, self.sized(small=True).blocks) if small else self.name)

    def spec_in(self, folder: Path, *, small: bool) -> Path:
        """The spec to run, with the claims beside it: at the paper's size where it comes with quiclab, the small one
        written into `folder`."""
        if not small:
            return self.file
        shutil.copy(self.file.with_name("paper.toml"), folder)
        spec = folder / "spec.toml"
        spec.write_text(small_spec(self.file, self.whole), encoding="utf-8")
        return spec


def known_headlines() -> Headlines:
    """Read the results that come with quiclab. Raises HostError where they were not installed, SpecError where the file
    is wrong."""
    if not (HEADLINES / "headlines.toml").is_file():
        raise HostError(f"{HEADLINES} has no headlines.toml: the papers' results did not come with quiclab", SET_UP)
    return read_headlines()


def read_studies(names: Iterable[str]) -> tuple[PaperStudy, ...]:
    """Read studies, and look once for each of the programs that they need. Raises SpecError for a wrong spec."""
    run = _each_once(bounded_run)
    return tuple(_read_one(name, run) for name in names)


def _read_one(name: str, run: Callable[[Sequence[str]], str | None]) -> PaperStudy:
    file = HEADLINES / name / "spec.toml"
    study = read_study(file, names_by_role())
    found = look_for(study.arms, run)
    # Several arms lack the same program: which of them does, is no matter here.
    absent = (told.partition(": ")[2] for told in found.missing)
    missing = dict.fromkeys((*objections_to(study), *absent))
    return PaperStudy(name, file, study, tuple(missing), found.versions)


def _each_once(run: Callable[[Sequence[str]], str | None]) -> Callable[[Sequence[str]], str | None]:
    """Return a `run` that runs a command once, however often it is asked for: many studies have the same programs."""
    answers: dict[tuple[str, ...], str | None] = {}

    def remembered(argv: Sequence[str]) -> str | None:
        key = tuple(argv)
        if key not in answers:
            answers[key] = run(key)
        return answers[key]

    return remembered
