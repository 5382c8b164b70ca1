# SPDX-License-Identifier: Apache-2.0
"""Nothing in src is there for tests, tools or benches alone: each module and each name is used in src itself."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"
FOR_OTHERS = {
    "__dir__": "Python asks for it",
    "_repr_html_": "a notebook asks for it",
    "modified": "fsspec asks for it",
    "_check_value": "argparse asks for it",
    "_fill_text": "argparse asks for it",
    "quic_event_received": "aioquic asks for it",
    "do_GET": "http.server asks for it",
    "do_POST": "http.server asks for it",
    "log_message": "http.server asks for it",
    "all_count": "who calls run_study asks for it",
    "spec_form": "the generator of the JSON Schema asks for it",
}
"""Names that are used from outside, each with who does."""


@cache
def modules(src: Path) -> dict[str, ast.Module]:
    """Module → its tree."""
    files = sorted(src.rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    return {".".join(file.relative_to(src).with_suffix("").parts): tree for file, tree in trees.items()}


def named(tree: ast.Module) -> Iterator[str]:
    """What a module imports, and strings that are one word or path: lists of verbs and commands name modules too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w./]+", node.value):
            yield re.split(r"[./]", node.value.removesuffix(".py"))[-1]


def unused_modules(trees: Mapping[str, ast.Module]) -> list[str]:
    """Modules that no other module imports or has in a string."""
    by: dict[str, set[str]] = {}
    for module, tree in trees.items():
        for name in named(tree):
            by.setdefault(name, set()).add(module)
    return [
        module
        for module in trees
        if not module.endswith("__init__")
        and not (by.get(module, set()) | by.get(module.rpartition(".")[2], set())) - {module}
    ]


def unused_names(trees: Mapping[str, ast.Module], templates: str = "") -> list[str]:
    """Functions, classes and methods whose name is nowhere but in their definition."""
    mentioned, defined = Counter(re.findall(r"\w+", templates)), set[str]()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.Name):
                mentioned[node.id] += 1
            elif isinstance(node, ast.Attribute):
                mentioned[node.attr] += 1
            elif isinstance(node, ast.alias):
                mentioned.update((node.name.rpartition(".")[2], node.asname or ""))
            elif isinstance(node, ast.keyword):
                mentioned[node.arg or ""] += 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                mentioned.update(re.findall(r"\w+", node.value))
    return sorted(name for name in defined if not mentioned[name] and not re.fullmatch(r"__\w+__", name))


def test_every_module_is_used_in_src() -> None:
    """What only tests and benches import belongs to them."""
    assert unused_modules(modules(SRC)) == []


def test_every_name_is_used_in_src() -> None:
    """Or somebody outside asks for it by that name."""
    templates = "\n".join(file.read_text(encoding="utf-8") for file in SRC.rglob("*.html"))
    assert [name for name in unused_names(modules(SRC), templates) if name not in FOR_OTHERS] == []


def test_what_is_not_used_is_found() -> None:
    """A module and a method that nothing names; one that a list of verbs or its own room names is used."""
    trees = {
        "room.main": ast.parse("VERBS = ('run',)\ndef main(): helper()\nif main: main()\n"),
        "room.run": ast.parse("from room.helper import helper\n"),
        "room.helper": ast.parse("def helper(): pass\nclass Kept:\n    def asked(self): pass\nKept\n"),
        "room.alone": ast.parse("'''A word of it is alone.'''\nfrom room import main\n"),
    }
    assert unused_modules(trees) == ["room.alone"]
    assert unused_names(trees) == ["asked"]
