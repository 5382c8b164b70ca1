# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the site, which `tools/build_site.py` builds."""

from __future__ import annotations

import tomllib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"

project = "quiclab"
release = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"]
project_copyright = "the quiclab authors, Apache-2.0"
language = "en"

extensions = ["myst_parser", "sphinx.ext.githubpages"]
root_doc = "index"
nitpicky = True
myst_heading_anchors = 6
highlight_language = "text"  # a block without a language is an output

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_theme_options = {"footer_icons": []}
pygments_style = "tango"
pygments_dark_style = "monokai"
