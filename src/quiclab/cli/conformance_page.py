# SPDX-License-Identifier: Apache-2.0
"""Page of the conformance test: which programs work together, and why others do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Result = dict[str, Any]

_HEAD = """\
# Conformance

Every client against every server and proxy that was on the machine, over a quiet path (100 Mbit/s, 5 ms each way):
1 KB and 1 MB with each protocol that both speak, the body checked by its hash, the transport by the packets. Behind a
proxy stands Caddy. A protocol in a cell worked for both objects; ~~struck out~~ it failed, with the reason below.

This page is written by `quiclab conformance --page docs/reference/conformance.md`.
"""


def worked(results: Iterable[Result]) -> dict[str, bool]:
    """Protocol → whether both objects came through, of the results of one pair."""
    objects = [result for result in results if result["what"] in ("1KB", "1MB")]
    return {
        protocol: all(r["outcome"] == "verified" for r in objects if r["protocol"] == protocol)
        for protocol in sorted({result["protocol"] for result in objects})
    }


def page(document: dict[str, Any]) -> str:
    """Markdown, from what `conformance.json` holds."""
    results: list[Result] = document["results"]
    clients = [client["name"] for client in document["clients"]]
    fronts = [(front["role"], front["name"]) for front in document["fronts"]]
    reasons: dict[str, int] = {}

    def matrix(cell: Any) -> list[str]:
        titles = [name if role == "server" else f"{name} (proxy)" for role, name in fronts]
        lines = ["| client | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
        for client in clients:
            cells = [
                cell([r for r in results if (r["client"], r["role"], r["front"]) == (client, role, name)])
                for role, name in fronts
            ]
            lines.append(f"| {client} | " + " | ".join(cells) + " |")
        return lines

    def mark(result: Result) -> str:
        number = reasons.setdefault(result["reason"], len(reasons) + 1)
        return f" [{number}]"

    def objects(found: list[Result]) -> str:
        words = []
        for protocol in sorted({result["protocol"] for result in found}):
            own = [r for r in found if r["protocol"] == protocol and r["what"] in ("1KB", "1MB")]
            bad = [result for result in own if result["outcome"] != "verified"]
            words.append(f"~~{protocol}~~{mark(bad[0])}" if bad else protocol)
        return " ".join(words)

    def tried(what: str) -> Any:
        def cell(found: list[Result]) -> str:
            own = [result for result in found if result["what"] == what]
            words = [f"{r['protocol']} " + ("yes" if r["outcome"] == "verified" else f"no{mark(r)}") for r in own]
            return ", ".join(words)

        return cell

    parts = [
        _HEAD,
        "\n".join(matrix(objects)),
        "\n## 0-RTT: accepted, by the packets\n",
        "\n".join(matrix(tried("0-RTT"))),
    ]
    parts += ["\n## Active migration: proven by PATH_RESPONSE\n", "\n".join(matrix(tried("migration")))]
    parts += ["\n## Programs and their logs\n", "\n".join(_programs(document, results))]
    if reasons:
        parts += ["\n## Reasons\n", "\n".join(f"{number}. {_cell(reason)}" for reason, number in reasons.items())]
    return "\n".join(parts) + "\n"


def _programs(document: dict[str, Any], results: Iterable[Result]) -> list[str]:
    lines = ["| program | role | version | migrates | qlog | key log |", "|---|---|---|---|---|---|"]
    for kind, log in (("clients", "client_qlog"), ("fronts", "server_qlog")):
        for program in document[kind]:
            own = [r for r in results if r["client" if kind == "clients" else "front"] == program["name"]]
            own = [r for r in own if kind == "clients" or r["role"] == program["role"]]
            qlog = _yes(any(result["logs"][log] for result in own))
            keys = _yes(any(result["logs"]["keys"] for result in own)) if kind == "clients" else ""
            cells = (program["name"], program["role"], _cell(program["version"]), _migrates(own), qlog, keys)
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def _migrates(results: Iterable[Result]) -> str:
    """Say with how many programs migration worked, proven by packets; nothing where it was not tried."""
    tried = [result["outcome"] == "verified" for result in results if result["what"] == "migration"]
    if not tried:
        return ""
    return _yes(any(tried)) + ("" if len(set(tried)) == 1 else f", {sum(tried)} of {len(tried)}")


def _yes(so: bool) -> str:
    return "yes" if so else "no"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
