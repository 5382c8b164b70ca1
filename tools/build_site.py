# SPDX-License-Identifier: Apache-2.0
"""Build the site of the docs; `tools/site.sh` installs what that takes and runs it.

usage: build_site.py FOLDER      a new folder, or one that holds a site, which is replaced
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import site_check
import site_pages

ROOT = Path(__file__).resolve().parent.parent
CONF = ROOT / "docs" / "site"
PARTS = ("furo", "sphinx", "sphinx-basic-ng", "pygments", "snowballstemmer")
"""Packages whose scripts, styles or word lists are in every built site."""


def main(arguments: list[str]) -> int:
    """Build and check; 1 for a mistake in the pages, 2 for one in the arguments."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(arguments[0]).resolve()
    if out.exists() and not (out / site_check.FIRST).is_file() and any(out.iterdir() if out.is_dir() else [out]):
        print(f"site: {arguments[0]} is there and holds no site: name another folder, or remove it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        pages, built = Path(folder, "pages"), Path(folder, "site")
        pages.mkdir()
        try:
            site_pages.write_sources(ROOT, pages)
        except ValueError as error:
            print(f"site: {error}", file=sys.stderr)
            return 1
        command = [sys.executable, "-m", "sphinx", "--quiet", "--jobs", "auto", "--fail-on-warning", "--keep-going"]
        command += ["--conf-dir", str(CONF), "--doctree-dir", str(Path(folder, "trees")), str(pages), str(built)]
        if subprocess.run(command, check=False).returncode:
            return 1
        _write_licences(built / "licences")
        found = list(site_check.problems(built))
        for line in found:
            print(f"site: {line}", file=sys.stderr)
        if found:
            return 1
        for needless in (".buildinfo", "objects.inv"):
            (built / needless).unlink(missing_ok=True)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(built, out)
    print(f"site: {arguments[0]}/{site_check.FIRST}")
    return 0


def _write_licences(folder: Path) -> None:
    """Write the licences of what the site holds of others' work."""
    folder.mkdir()
    shutil.copy(ROOT / "LICENSE", folder / "quiclab.txt")
    for name in PARTS:
        found = importlib.metadata.distribution(name)
        texts = [
            file.read_text(encoding="utf-8")
            for file in found.files or ()
            if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")) and file.suffix not in (".py", ".pyc")
        ]
        (folder / f"{name}.txt").write_text("\n\n".join([f"{name} {found.version}", *texts]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
