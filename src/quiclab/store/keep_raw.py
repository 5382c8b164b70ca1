# SPDX-License-Identifier: Apache-2.0
"""Rules by which trials keep their raw files. A trial that does not has its verdict, its proof and its tables."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from quiclab.model.units import ByteCount
from quiclab.store.disk import disk_errors, write_atomically
from quiclab.store.layout import Attempt, judged_document, read_register

LOGS_LEFT_OUT = "logs_left_out"
"""Key in trial.json of a trial without its raw files: the rule by which they are not kept."""
_FORMS = "give 'all', 'failures', 'none', 'pairs:3' (any number), or a size such as '5GB' (B, KB, MB, GB)"


@dataclass(frozen=True)
class KeepRaw:
    """A rule by which trials keep their raw files."""

    rule: str
    what: Literal["all", "failures", "none", "pairs", "size"]
    number: int = 0
    """Blocks of each cell where it is `pairs`, bytes of all raw files where it is `size`."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a rule. Raises ValueError with the forms that there are."""
        if text in ("all", "failures", "none"):
            return cls(text, text)  # type: ignore[arg-type]
        if (pairs := re.fullmatch(r"pairs:([1-9][0-9]{0,8})", text)) is not None:
            return cls(text, "pairs", int(pairs[1]))
        try:
            size = ByteCount.parse(text)
        except ValueError:
            raise ValueError(f"{text!r} is no rule: {_FORMS}") from None
        if size.bytes == 0:
            raise ValueError(f"{text!r} is no room: write 'none'")
        return cls(text, "size", size.bytes)

    def keeps(self, attempt: Attempt, block: int) -> bool:
        """True if an attempt keeps its raw files; by `size` all do as long as there is room. Those of a void block are
        kept together: the one at fault is looked into beside the others."""
        if attempt.status != "verified":
            return self.what != "none"
        return self.what in ("all", "size") or (self.what == "pairs" and block < self.number)


KEEP_ALL = KeepRaw("all", "all")


def leave_logs_out(folder: Path, rule: str) -> int:
    """Remove the raw files of a judged trial, once its trial.json registers none: at any instant it is whole.

    Returns how many bytes it registered. Raises HostError where the disk refuses.
    """
    from quiclab.store.record_form import view_of
    from quiclab.store.trial_views import TrialRegister

    document = judged_document(folder)
    if document is None:
        return 0
    register = view_of(document, TrialRegister)
    size = register.size_bytes if register else 0
    with disk_errors(folder):
        if not document.get(LOGS_LEFT_OUT):
            document |= {"artefacts": [], LOGS_LEFT_OUT: rule}
            write_atomically(folder / "trial.json", json.dumps(document, indent=1))
        if (folder / "raw").exists():
            shutil.rmtree(folder / "raw")
    return size


def raw_bytes(folder: Path) -> int:
    """Size of the raw files of a trial, as its trial.json registers them."""
    register = read_register(folder)
    return register.size_bytes if register else 0
