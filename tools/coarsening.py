# SPDX-License-Identifier: Apache-2.0
"""Print for every trial of a study by how much lower levels of evidence differ from the full account.

`tools/coarsening.py STUDY`: a row for each part of each level, with its mean difference and its worst trial. Ends with
1 where a difference is more than the level states.
"""

from __future__ import annotations

import sys
from pathlib import Path

from quiclab.why.account.agreement import in_lines, levels_of_study

if __name__ == "__main__":
    lines, beyond = in_lines(levels_of_study(Path(sys.argv[1])))
    print("\n".join(lines))
    sys.exit(1 if beyond else 0)
