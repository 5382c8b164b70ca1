# SPDX-License-Identifier: Apache-2.0
"""The page of a report, its tables and drawings, and the pages of single pairs.

`write.py` writes it from `templates/`; maps of differences: `maps.py`; pairs of trials: `pairs.py`, `pair_page.py`,
their critical path: `critical_path.py`, `templates/timeline.js`. A page bears a million points by `column_packing.py`,
`templates/figures.js` and the thinning in `standalone_figure.py`; one file to mail: `single_file.py`.
"""
