# SPDX-License-Identifier: Apache-2.0
"""Docstrings of dataclasses' fields, which Python itself does not keep."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Docstrings under the fields of a dataclass, by name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            docs[field.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return docs
