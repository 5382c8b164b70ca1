# SPDX-License-Identifier: Apache-2.0
"""Programs that a spec brings itself, by `argv` or `prefix`: running the spec runs them."""

from __future__ import annotations

import json
import os
import shutil

from quiclab.lab.endpoints import Presence, look_for
from quiclab.lab.testbed.host import bounded_run
from quiclab.model.errors import HostError
from quiclab.model.study import Study
from quiclab.project import release_name


def own_programs(study: Study) -> str | None:
    """Return a sentence that names the programs of the spec's own; None where there are none."""
    found = {
        program.argv[0] if program.argv else f"{program.name} of {program.prefix}"
        for arm in study.arms
        for _, program, _ in arm.programs()
        if program.argv or (program.prefix and release_name(program.prefix) is None)
    }
    if not found:
        return None
    return (
        f"The spec brings programs of its own: {', '.join(sorted(found))}. `quiclab run` starts them; SECURITY.md says "
        "what they can reach."
    )


def programs_here(study: Study) -> Presence:
    """Look for every program and command that the arms ask for. Those below a `prefix` are asked for their version in a
    sandbox, without a network and, where root runs it, as an unprivileged user."""
    found = _look_for(study)
    return Presence(found.versions, (*absent_commands(study), *found.missing))


def absent_commands(study: Study) -> tuple[str, ...]:
    """Return commands of the spec's own that cannot be started; one whose path has placeholders is not looked for."""
    return tuple(
        f"arm {arm.name!r}: the {role}'s {program.argv[0]} is not there or may not be executed; mend the first word of "
        "its argv"
        for arm in study.arms
        for role, program, _ in arm.programs()
        if program.argv and "{" not in program.argv[0] and shutil.which(program.argv[0]) is None
    )


def _look_for(study: Study) -> Presence:
    if not any(program.prefix for arm in study.arms for _, program, _ in arm.programs()):
        return look_for(study.arms, bounded_run)
    from quiclab.lab.runner.confined import confined_run, reached_by
    from quiclab.lab.testbed.confinement import confine
    from quiclab.lab.testbed.sandbox import run_in_sandbox

    reader, writer = os.pipe()

    def inside() -> int:
        try:
            with confine(None, reached_by(study)) as looking:
                found = look_for(study.arms, confined_run(looking))
        except HostError as error:
            found = _unasked(error)
        with os.fdopen(writer, "w") as told:
            json.dump([found.versions, found.missing], told)
        return 0

    with os.fdopen(reader) as told:
        try:
            run_in_sandbox(inside)
        except HostError as error:
            return _unasked(error)
        finally:
            os.close(writer)
        versions, missing = json.loads(told.read() or "[{}, []]")
        return Presence(versions, tuple(missing))


def _unasked(error: HostError) -> Presence:
    return Presence(missing=(f"its own programs were not asked for their versions: {error.message}",))
