# SPDX-License-Identifier: Apache-2.0
"""One look at each URL over each protocol, before a probe runs: is there anything to compare?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quiclab.evidence.verify.trial import judge, problem_of
from quiclab.lab.runner.probe import Probe, run_probe_trial
from quiclab.logs.decoders import decode_trial
from quiclab.model.errors import TrialError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.spec.target import Target
from quiclab.store.disk import read_object
from quiclab.store.record_form import as_trial

_ADVICE = " See https://curl.se/"
"""Advice that libcurl's binding adds to every error."""
_NAMES = {"h2": "HTTP/2", "h3": "HTTP/3"}


@dataclass(frozen=True)
class UrlAnswer:
    """Answer of one URL."""

    target: Target
    body_bytes: dict[str, int]
    """Arm → length, of those that answered as asked."""
    problems: dict[str, str]
    """Arm → why it cannot be compared."""

    def sentence(self) -> str:
        """Return a sentence that says what the URL answered."""
        if not self.problems:
            h2, h3 = self.body_bytes["h2"], self.body_bytes["h3"]
            if h2 == h3:
                return f"{self.target.url}: both answer, with {h2} bytes"
            return f"{self.target.url}: both answer, but with {h2} bytes over HTTP/2 and {h3} over HTTP/3"
        where = f"{self.target.address} port {self.target.port}"
        told = "; ".join(f"no usable {_NAMES[arm]} at {where}: {why}" for arm, why in self.problems.items())
        well = " and ".join(f"its {_NAMES[arm]} answers" for arm in self.body_bytes)
        return f"{self.target.url}: {told}{f' ({well})' if well else ''}"


def look_at(probe: Probe, study: Study, target: Target) -> UrlAnswer:
    """Ask once over each protocol, with nothing added by the link."""
    bodies, problems = {}, {}
    laboratory = replace(probe.laboratory, study=study)
    for arm in study.arms:
        row = PlanRow(
            trial_id=f"look-{target.name}-{arm.name}",
            kind="main",
            cell_id=f"{target.name}/{study.paths[0].name}",
            workload=target.name,
            path=study.paths[0].name,
            arm=arm.name,
            arm_name=arm.name,
            baseline_arm=study.baseline,
            block=0,
            block_id="look",
            seed=0,
            position=0,
        )
        folder = run_probe_trial(replace(probe, laboratory=laboratory), row, 1)
        judge(folder, decode_trial(folder).tables)
        trial = as_trial(read_object(folder / "trial.json"))
        problem = problem_of(trial)
        if problem is None:
            bodies[arm.name] = trial.first_request.body_bytes or 0
        else:
            redirect = trial.first_request.redirect
            problem = problem.partition(_ADVICE)[0]
            problems[arm.name] = f"{problem}, which sends to {redirect}: give that URL" if redirect else problem
    return UrlAnswer(target, bodies, problems)


def comparable(looks: Sequence[UrlAnswer]) -> tuple[UrlAnswer, ...]:
    """Return the looks at targets that answer over both protocols. Raises TrialError where there is none."""
    found = tuple(look for look in looks if not look.problems)
    if not found:
        nobody = all(not look.body_bytes for look in looks)
        firewall = (
            "if nothing at all comes back, a firewall of this machine may drop what it forwards (Docker's FORWARD "
            "chain does): docs/how-to/probe.md"
        )
        missing = "a server without HTTP/3 (UDP) or without HTTP/2 cannot be compared: choose another URL"
        raise TrialError(
            "there is nothing to compare", firewall if nobody else missing, tuple(look.sentence() for look in looks)
        )
    return found
