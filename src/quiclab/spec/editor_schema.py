# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of a spec, by which editors complete and check it: a file of the package, written by
`tools/generate_reference.py`."""

from __future__ import annotations

from quiclab.project import PACKAGE

SCHEMA = PACKAGE / "spec" / "spec.schema.json"


def schema_line() -> str:
    """First line of a spec that tells editors built on Taplo, such as VS Code with Even Better TOML, where the schema
    of this quiclab is."""
    return f"#:schema {SCHEMA.as_uri()}"
