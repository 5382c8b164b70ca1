# SPDX-License-Identifier: Apache-2.0
"""Dates of the releases that can be installed, from the file beside their locks."""

from __future__ import annotations

import datetime
import tomllib

from quiclab.project import RELEASES, SUPPLIES

DATES = "released.toml"
"""Name of the file in the folder of a program's locks: version → date on which its registry got it (UTC), of the
program's current release too."""


def release_dates(program: str) -> dict[str, datetime.date]:
    """Version → date of the releases of a program that are known; none where its name has no locks."""
    file = SUPPLIES / "programs" / RELEASES / program / DATES
    if not file.is_file():
        return {}
    return {version: date for version, date in tomllib.loads(file.read_text()).items() if is_date(date)}


def is_date(value: object) -> bool:
    """True if a value is a date without a time."""
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
