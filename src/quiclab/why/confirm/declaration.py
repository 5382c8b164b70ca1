# SPDX-License-Identifier: Apache-2.0
"""Declaration before a run that is to confirm a cause: the prediction, the checks and their bounds.

Its hash is kept with the study that follows, so that nobody, quiclab included, can fit the prediction to the result.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.model.mechanism_names import current_name
from quiclab.store.forms import Each, Number, misfit

REPLAY, WITHOUT, SHAM, FAST, WITH, DOSE = "replay", "without", "sham", "fast", "with", "dose-"
FAST_WITHOUT = "fast-without"
"""Roles of the trials of a block; those of doses have their number behind, from 1."""
NOT_APPLICABLE = f"{WITH} (not applicable)"
"""Begin of the clause in `left_out` by which the other arm's transport cannot have the mechanism."""
LEAST_REMOVED = 0.8
"""Share of the mechanism's own time that the setting must take away, or nothing was tried."""
TOLERANCE = 0.25
"""Share of the predicted time within which times count as the same."""
Value = str | int | float | bool | tuple[str, ...]

_PLACE = {"cell!": str, "arm!": str}
_FORM = {
    **dict.fromkeys(("study!", "cell!", "cause!", "arm!", "other!", "table!", "key!", "sham!", "spec_sha256!"), str),
    "alpha!": Number,
    "total_ms!": Number,
    "noise_ms!": Number,
    "tolerance_ms!": Number,
    "beyond_ms!": Number,
    "seed!": int,
    "predicted!": {**dict.fromkeys(("ms!", "low_ms!", "high_ms!", "confidence!"), Number), "blocks!": int},
    "places!": Each(_PLACE),
    "left_out!": [str],
    "equal": bool,
    "replaced_ms": Number,
}

_ADDED: Mapping[str, object] = {"equal": False, "replaced_ms": 0.0}
"""Keys that older declarations do not have → their values there."""


@dataclass(frozen=True)
class TrialPlace:
    """Place of a role's trials in the confirming study."""

    cell: str
    arm: str


@dataclass(frozen=True)
class Predicted:
    """The time that goes with the mechanism, as the stored trials have it."""

    ms: float
    """Median of the mechanism's time in the arm that has it."""
    low_ms: float
    high_ms: float
    confidence: float
    """Level that the interval attains with so few blocks."""
    blocks: int


@dataclass(frozen=True)
class Declared:
    """Everything that is fixed before a confirming run."""

    study: str
    """Name of the study whose cell it is."""
    cell: str
    """The cell as `WORKLOAD/PATH`."""
    cause: str
    """Name of the mechanism when it was declared."""
    arm: str
    """Arm that has the mechanism, or more of it."""
    other: str
    """Arm that it was compared with."""
    table: str
    """Table of the setting: `sender`, `receiver`, `client`, `tcp`, `certificate` or `path`."""
    key: str
    value: Value
    doses: tuple[str | int | float, ...]
    """Values of the arms `dose-1`, `dose-2`, …, from the most of the mechanism to the least."""
    alpha: float
    seed: int
    """Seed of the new trials: it is another one than that of the trials from which the cause was read."""
    predicted: Predicted
    total_ms: float
    """Median of the whole time in the arm that has it."""
    noise_ms: float
    """Standard deviation of that time over the blocks."""
    tolerance_ms: float
    """The quarter of the predicted time: what may come back elsewhere, what the sham may move, and within what a total
    has not moved."""
    beyond_ms: float
    """Time that may go with the mechanism's own: that of the arm's other mechanisms which the setting takes away as
    well, and by how much longer it takes in what follows from it."""
    places: Mapping[str, TrialPlace]
    """Role → where its trials are."""
    sham: str
    """Description of the sham, as a clause."""
    left_out: tuple[str, ...]
    """Parts of the plan that are not possible here, and why, a clause each."""
    spec_sha256: str
    """Hash of the spec that is run."""
    equal: bool = False
    """True if the setting leaves the arm as much of the mechanism as the other arm has, not none of it: `predicted` is
    then what the arm has more."""
    replaced_ms: float = 0.0
    """Time of the mechanism in whose place another limit is predicted to hold: it goes, and the whole does not fall by
    it."""

    @property
    def share_ms(self) -> float:
        """Median of the mechanism's time, or of what the arm has more of it: what goes, and what another limit takes in
        its place."""
        return self.predicted.ms + self.replaced_ms

    @property
    def mechanism(self) -> str:
        """Name of the mechanism in this version: `cause` stays as it was declared, since it is hashed."""
        return current_name(self.cause)

    @property
    def is_of_path(self) -> bool:
        """True if the setting is one of the path, which both arms share."""
        return self.table == "path"

    @property
    def applicable(self) -> bool:
        """True if the other arm's transport can have the mechanism."""
        return not any(each.startswith(NOT_APPLICABLE) for each in self.left_out)

    @property
    def expected_ms(self) -> tuple[float, float]:
        """Time by which the total is to fall, not below 0: the predicted interval, wider by the tolerance, its upper
        end also by what may go with it."""
        low, high = self.predicted.low_ms - self.tolerance_ms, self.predicted.high_ms + self.tolerance_ms
        return max(0.0, low), high + self.beyond_ms

    @property
    def dose_roles(self) -> tuple[str, ...]:
        """Roles in the order of the doses, `replay` first and `without` last; none where the setting has no degrees."""
        doses = tuple(f"{DOSE}{number + 1}" for number in range(len(self.doses)))
        return (REPLAY, *doses, WITHOUT) if doses else ()

    def document(self) -> dict[str, object]:
        """The declaration as JSON has it."""
        document: dict[str, object] = json.loads(json.dumps(dataclasses.asdict(self)))
        for name, value in _ADDED.items():
            if document[name] == value:
                del document[name]  # so that older declarations keep their hash
        return document

    @property
    def sha256(self) -> str:
        """Hash of the declaration: of its JSON with sorted keys and without spaces."""
        text = json.dumps(self.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def declared_from(document: Any) -> Declared | None:
    """The declaration that a document holds; None where it is not of that form."""
    if misfit(document, _FORM) or not isinstance(document, dict):
        return None
    value = document.get("value")
    doses = document.get("doses")
    if not isinstance(doses, list) or value is None or isinstance(value, dict):
        return None
    known = {field.name for field in dataclasses.fields(Declared)}
    if document.keys() | _ADDED.keys() != known or document["predicted"].keys() != {
        f.name for f in dataclasses.fields(Predicted)
    }:
        return None
    return Declared(
        **document
        | {
            "value": tuple(value) if isinstance(value, list) else value,
            "doses": tuple(doses),
            "predicted": Predicted(**document["predicted"]),
            "places": {role: TrialPlace(place["cell"], place["arm"]) for role, place in document["places"].items()},
            "left_out": tuple(document["left_out"]),
        }
    )
