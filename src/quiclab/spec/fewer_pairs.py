# SPDX-License-Identifier: Apache-2.0
"""The spec of a study with as few pairs as can decide anything, and without its A/A control.

It is a study of its own. A look at the first pairs of the whole one would leave that to the sequential test, which
needs more pairs (`quiclab.compare.interim_analyses`).
"""

from __future__ import annotations

import dataclasses
import pathlib

from quiclab.model.study import Study
from quiclab.spec.control import least_blocks
from quiclab.spec.read import load_toml
from quiclab.spec.toml_text import toml_text


def fewest_pairs(study: Study) -> int:
    """Return the fewest pairs that can decide anything, or those of the spec, where these are no more."""
    return min(least_blocks(study.alpha), study.blocks)


def small_name(name: str, pairs: int) -> str:
    """Return the name of the small variant of a study, or of its directory."""
    return f"{name}-{pairs}-pairs"


def small_study(study: Study) -> Study:
    """Return the study with its fewest pairs, for what is foretold of it."""
    pairs = fewest_pairs(study)
    control = dataclasses.replace(study.aa, blocks=0)
    return dataclasses.replace(study, name=small_name(study.name, pairs), blocks=pairs, aa=control)


def small_spec(file: pathlib.Path, study: Study) -> str:
    """Return the spec, as TOML, of the small variant of a study whose spec is `file`. It is for a spec that names no
    files: these would be looked for beside the new one."""
    small, document = small_study(study), load_toml(file).document
    aa = {**document["study"].get("aa", {}), "blocks": 0}
    # Fewer blocks would have their packets captured whole where the whole study's are not: another difference.
    own = {"name": small.name, "blocks": small.blocks, "aa": aa, "captures": small.captures}
    heading = (
        f"# Written by `quiclab paper --small`: {file.parent.name}/{file.name} with {small.blocks} of its "
        f"{study.blocks} pairs, and without its A/A control.\n\n"
    )
    return heading + toml_text(document | {"study": document["study"] | own})
