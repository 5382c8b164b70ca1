# SPDX-License-Identifier: Apache-2.0
"""Adds up what several runs of pytest came to: `totals.py FOLDER`, with a JUnit file of each run in the folder."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree


def count(file: Path) -> Counter[str]:
    """Tests of one run by what became of them; a fixture that fails after its test is one more, as pytest counts."""
    found = Counter[str]()
    for case in ElementTree.parse(file).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it a moment ago
        marks = {child.tag for child in case}
        found["failed" if marks & {"failure", "error"} else "skipped" if "skipped" in marks else "passed"] += 1
    return found


def main(folder: Path) -> int:
    """One line; 1 where a test failed or none passed."""
    total = sum((count(file) for file in sorted(folder.glob("*.xml"))), Counter[str]())
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
