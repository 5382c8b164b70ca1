# SPDX-License-Identifier: Apache-2.0
"""Asks Wireshark's tshark for the decrypted contents of chosen packets, as trees of named fields.

A tree is a tuple of (name, value) in the order of the packet: names repeat, and a value is a text or a tree.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

TIME_LIMIT_S = 30
"""Ten megabytes take less than a second; a capture that takes this long is not worth waiting for."""

Tree = tuple[tuple[str, Any], ...]


class UnopenedError(Exception):
    """Nothing was decrypted; says why."""


@lru_cache(maxsize=1)
def tshark_version() -> str | None:
    """For example `4.0.17`; None where tshark is not installed or does not start."""
    if shutil.which("tshark") is None:
        return None
    command = ["tshark", "--version"]
    try:
        shown = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True, env=_environment("/nonexistent")
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # "TShark (Wireshark) 4.0.17 (Git v4.0.17 packaged as …"
    return next((word.rstrip(".") for word in shown.stdout.split() if word[0].isdigit()), None)


def dissect(capture: Path, key_log: Path, server_port: int, wanted: str) -> list[tuple[int, Tree]]:
    """Number in the capture and layers of each packet that the display filter `wanted` lets through.

    Raises `UnopenedError`.
    """
    if tshark_version() is None:
        raise UnopenedError("tshark is not installed")
    # An empty configuration: the user's own preferences and plug-ins must not change what is read.
    with tempfile.TemporaryDirectory(prefix="quiclab-tshark-") as nothing:
        command = ["tshark", "-n", "-r", str(capture), "-Y", wanted, "-T", "json", "-J", "frame quic tls http2 http"]
        command += ["-o", f"tls.keylog_file:{key_log}", "-o", "tcp.reassemble_out_of_order:TRUE"]
        command += ["-d", f"udp.port=={server_port},quic", "-d", f"tcp.port=={server_port},tls"]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=TIME_LIMIT_S, check=False, env=_environment(nothing)
            )
        except subprocess.TimeoutExpired:
            raise UnopenedError(f"tshark did not end within {TIME_LIMIT_S} s") from None
        except OSError as error:
            raise UnopenedError(f"tshark does not start: {error}") from None
    try:
        packets = json.loads(done.stdout, object_pairs_hook=tuple)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UnopenedError(f"tshark failed: {said[-1] if said else f'exit code {done.returncode}'}") from None
    return [_numbered(packet) for packet in packets]


def _environment(configuration: str) -> dict[str, str]:
    folders = ("HOME", "WIRESHARK_CONFIG_DIR", "WIRESHARK_PLUGIN_DIR", "XDG_CONFIG_HOME")
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **dict.fromkeys(folders, configuration)}


def _numbered(packet: Tree) -> tuple[int, Tree]:
    layers = child(child(packet, "_source"), "layers")
    return int(text(child(layers, "frame"), "frame.number") or 0), layers


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
