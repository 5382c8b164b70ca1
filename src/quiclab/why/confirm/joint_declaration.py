# SPDX-License-Identifier: Apache-2.0
"""Declaration before a run without two or three causes, in all combinations."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from quiclab.why.confirm.declaration import Predicted, TrialPlace, Value

Removed = frozenset[str]
"""Names of the causes that are taken away."""


@dataclass(frozen=True)
class DeclaredTogether:
    """Everything that is fixed before a run without several causes."""

    study: str
    cell: str
    """The cell as `WORKLOAD/PATH`."""
    arm: str
    """Arm that has all of the causes."""
    alpha: float
    seed: int
    total_ms: float
    """Median of the whole time in the arm."""
    settings: Mapping[str, tuple[str, str, Value]]
    """Cause → table, key and value of the setting that takes it away."""
    predicted: Mapping[str, Predicted]
    """Cause → its time in the stored trials."""
    tolerance_ms: Mapping[str, float]
    """Cause → time within which its part counts as nothing."""
    places: Mapping[str, TrialPlace]
    """Causes that are taken away, joined by `+` → where those trials are; "" is the arm as it is."""
    spec_sha256: str

    @property
    def sha256(self) -> str:
        """Hash of the declaration: of its JSON with sorted keys and without spaces."""
        return hashlib.sha256(
            json.dumps(self.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        ).hexdigest()

    def document(self) -> dict[str, object]:
        """The declaration as JSON has it."""
        document: dict[str, object] = json.loads(json.dumps(dataclasses.asdict(self)))
        return document


def joined(removed: Iterable[str]) -> str:
    """The name of a combination."""
    return "+".join(sorted(removed))


def combinations_of(causes: Sequence[str]) -> list[Removed]:
    """All combinations of the causes, that of none first."""
    return [frozenset(each) for size in range(len(causes) + 1) for each in combinations(sorted(causes), size)]
