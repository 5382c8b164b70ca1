# SPDX-License-Identifier: Apache-2.0
"""Docstrings of dataclasses' fields, which Python itself does not keep."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


@functools.cache  # Python reads and parses the whole module for each class
def field_docs(cls: type[Any]) -> Mapping[str, str]:
    """Docstrings under the fields of a dataclass, by name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            docs[field.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return MappingProxyType(docs)
