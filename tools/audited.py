# SPDX-License-Identifier: Apache-2.0
"""Judge the output of pip-audit: exit code 1 if there is an advisory on a package, else 0; packages that were not
checked are named."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def judge(lock: str, found: Path) -> tuple[int, list[str]]:
    """Return exit code and lines; `found` is removed."""
    try:
        packages = json.loads(found.read_text())["dependencies"]
    except (OSError, ValueError):
        packages = []
    found.unlink(missing_ok=True)
    unknown = [each for each in packages if "skip_reason" in each]
    known = [(each, flaw) for each in packages for flaw in each.get("vulns", [])]
    lines = [f"lint: {lock}: {each['name']} {each['version']}: {flaw['id']}: mended in "
             f"{', '.join(flaw['fix_versions']) or 'no version yet'}" for each, flaw in known]  # fmt: skip
    if not packages or unknown:
        which = f"{len(unknown)} of {len(packages)} packages" if packages else "packages"
        lines.append(f"lint: not checked: advisories on {which} of {lock}, as their index has none or is out of reach")
    return int(bool(known)), lines


if __name__ == "__main__":
    code, said = judge(sys.argv[1], Path(sys.argv[2]))
    print("\n".join(said)) if said else None
    sys.exit(code)
