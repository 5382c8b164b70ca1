# SPDX-License-Identifier: Apache-2.0
"""Rules by which trials keep their raw files. A trial that does not has its verdict, its proof and its tables."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from quiclab.store.layout import BLOCK_VOID, Attempt, disk_errors, judged_document, write_atomically
from quiclab.units import ByteCount

LOGS_LEFT_OUT = "logs_left_out"
"""Key in trial.json of a trial without its raw files: the rule by which they are not kept."""
_FORMS = "all, failures, none, pairs:N or a size such as 5GB"


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
            raise ValueError(f"{text!r} is none of {_FORMS}") from None
        return cls(text, "size", size.bytes)

    def keeps(self, attempt: Attempt, block: int) -> bool:
        """Whether an attempt keeps its raw files; by `size` all do as long as there is room."""
        if attempt.status == "verified":
            return self.what in ("all", "size") or (self.what == "pairs" and block < self.number)
        at_fault = attempt.reason != BLOCK_VOID
        return self.what in ("all", "size") or (at_fault and self.what != "none")


KEEP_ALL = KeepRaw("all", "all")


def leave_logs_out(folder: Path, rule: str) -> None:
    """Remove the raw files of a judged trial, once its trial.json registers none: at any instant it is whole.

    Raises HostError where the disk refuses.
    """
    document = judged_document(folder)
    if document is None:
        return
    with disk_errors(folder):
        if not document.get(LOGS_LEFT_OUT):
            document |= {"artefacts": [], LOGS_LEFT_OUT: rule}
            write_atomically(folder / "trial.json", json.dumps(document, indent=1))
        if (folder / "raw").exists():
            shutil.rmtree(folder / "raw")


def raw_bytes(folder: Path) -> int:
    """Size of the raw files of a trial, as its trial.json registers them."""
    document = judged_document(folder) or {}
    return sum(int(item["bytes"]) for item in document.get("artefacts", ()))
