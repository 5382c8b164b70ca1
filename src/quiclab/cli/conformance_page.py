# SPDX-License-Identifier: Apache-2.0
"""Page of the conformance test: which programs work together, and why others do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from quiclab.model.conformance_record import CaseResult, ConformanceResults, TriedProgram

_HEAD = """\
# Conformance

Every client against every server and proxy that was on the machine, over a quiet path (100 Mbit/s, 5 ms each way):
1 KB and 1 MB with each protocol that both speak, the body checked by its hash, the transport by the packets. Behind a
proxy stands Caddy. A protocol in a cell worked for both objects; ~~struck out~~ it failed, with the reason below.

This page is written by `quiclab conformance --page docs/reference/conformance.md`.
"""


def worked(results: Iterable[CaseResult]) -> dict[str, bool]:
    """Protocol → whether both objects came through, of the results of one pair."""
    objects = [result for result in results if result.what in ("1KB", "1MB")]
    return {
        protocol: all(r.outcome == "verified" for r in objects if r.protocol == protocol)
        for protocol in sorted({result.protocol for result in objects})
    }


def page(document: ConformanceResults) -> str:
    """Markdown, from what `conformance.json` holds."""
    results = document.results
    clients = [client.name for client in document.clients]
    fronts = [(front.role, front.name) for front in document.fronts]
    reasons: dict[str, int] = {}

    def matrix(cell: Any) -> list[str]:
        titles = [name if role == "server" else f"{name} (proxy)" for role, name in fronts]
        lines = ["| client | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
        for client in clients:
            cells = [
                cell([r for r in results if (r.client, r.role, r.front) == (client, role, name)])
                for role, name in fronts
            ]
            lines.append(f"| {client} | " + " | ".join(cells) + " |")
        return lines

    def mark(result: CaseResult) -> str:
        number = reasons.setdefault(result.reason, len(reasons) + 1)
        return f" [{number}]"

    def objects(found: list[CaseResult]) -> str:
        words = []
        for protocol in sorted({result.protocol for result in found}):
            own = [r for r in found if r.protocol == protocol and r.what in ("1KB", "1MB")]
            bad = [result for result in own if result.outcome != "verified"]
            words.append(f"~~{protocol}~~{mark(bad[0])}" if bad else protocol)
        return " ".join(words)

    def tried(what: str) -> Any:
        def cell(found: list[CaseResult]) -> str:
            own = [result for result in found if result.what == what]
            words = [f"{r.protocol} " + ("yes" if r.outcome == "verified" else f"no{mark(r)}") for r in own]
            return ", ".join(words)

        return cell

    parts = [
        _HEAD,
        "\n".join(matrix(objects)),
        "\n## 0-RTT: accepted, by the packets\n",
        "\n".join(matrix(tried("0-RTT"))),
    ]
    parts += ["\n## Active migration: proven by PATH_RESPONSE\n", "\n".join(matrix(tried("migration")))]
    parts += ["\n## Programs and their logs\n", "\n".join(_programs(document))]
    if reasons:
        parts += ["\n## Reasons\n", "\n".join(f"{number}. {_cell(reason)}" for reason, number in reasons.items())]
    return "\n".join(parts) + "\n"


def _programs(document: ConformanceResults) -> list[str]:
    lines = ["| program | role | version | migrates | qlog | key log |", "|---|---|---|---|---|---|"]
    for client in document.clients:
        own = [each for each in document.results if each.client == client.name]
        logs = _yes(any(each.logs.client_qlog for each in own)), _yes(any(each.logs.keys for each in own))
        lines.append(_line(client, own, *logs))
    for front in document.fronts:
        own = document.results_with(front)
        lines.append(_line(front, own, _yes(any(each.logs.server_qlog for each in own)), ""))
    return lines


def _line(program: TriedProgram, own: Sequence[CaseResult], qlog: str, keys: str) -> str:
    cells = (program.name, program.role, _cell(program.version), _migrates(own), qlog, keys)
    return "| " + " | ".join(cells) + " |"


def _migrates(results: Iterable[CaseResult]) -> str:
    """Say with how many programs migration worked, proven by packets; nothing where it was not tried."""
    tried = [result.outcome == "verified" for result in results if result.what == "migration"]
    if not tried:
        return ""
    return _yes(any(tried)) + ("" if len(set(tried)) == 1 else f", {sum(tried)} of {len(tried)}")


def _yes(so: bool) -> str:
    return "yes" if so else "no"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
