# SPDX-License-Identifier: Apache-2.0
"""What tshark prints of packets (`-T json`), as trees of named fields.

A tree is a tuple of (name, value) in the order of the packet: names repeat, and a value is a text or a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tree = tuple[tuple[str, Any], ...]


def children(tree: Tree, name: str) -> Iterator[Tree]:
    """The subtrees of that name right below."""
    return (value for key, value in tree if key == name and isinstance(value, tuple))


def child(tree: Tree, name: str) -> Tree:
    """The first subtree of that name; empty if there is none."""
    return next(children(tree, name), ())


def descendants(tree: Tree, name: str) -> Iterator[Tree]:
    """The subtrees of that name at any depth, in the order of the packet."""
    for key, value in tree:
        if isinstance(value, tuple):
            if key == name:
                yield value
            yield from descendants(value, name)


def texts(tree: Tree, name: str) -> list[str]:
    """All texts of that name at any depth."""
    found = []
    for key, value in tree:
        if isinstance(value, tuple):
            found += texts(value, name)
        elif key == name:
            found.append(value)
    return found


def text(tree: Tree, name: str) -> str | None:
    """The first text of that name at any depth."""
    return next(iter(texts(tree, name)), None)


def number(tree: Tree, name: str) -> int | None:
    """The first number of that name at any depth, written in any base."""
    found = text(tree, name)
    return None if found is None else int(found, 0)


def octets(tree: Tree, name: str) -> bytes:
    """The first bytes of that name at any depth; none if there are none."""
    return bytes.fromhex((text(tree, name) or "").replace(":", ""))
