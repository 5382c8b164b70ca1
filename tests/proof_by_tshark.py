# SPDX-License-Identifier: Apache-2.0
"""What `trial.json` holds under `proof`, as tshark reads it from the same capture, by the names that tshark knows."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

UNPROVEN = "unproven"
_CLIENT_HELLO, _SERVER_HELLO, _ENCRYPTED_EXTENSIONS, _SERVER_KEY_EXCHANGE = "1", "2", "8", "12"
_RETRY_REQUEST = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"
_EARLY_DATA = "Type: early_data (42)"
_PRE_SHARED_KEY = "Type: pre_shared_key (41)"
_ECN = ("not_ect", "ect1", "ect0", "ce")
_VERSIONS = {"0x00000001": "v1", "0x6b3343cf": "v2"}


@dataclass(frozen=True)
class Dissected:
    """One packet as tshark shows it (PDML)."""

    tree: ElementTree.Element

    def values(self, name: str) -> list[str]:
        """Of all fields of that name."""
        return [field.get("show", "") for field in self.tree.iter("field") if field.get("name") == name]

    def named(self, name: str) -> list[str]:
        """Of all fields of that name, in tshark's words: `Group: x25519 (29)` is x25519."""
        shown = [field.get("showname", "") for field in self.tree.iter("field") if field.get("name") == name]
        return [re.sub(r" \((0x)?[0-9a-f]+\)$", "", each.partition(": ")[2]) for each in shown]

    def is_shown(self, words: str) -> bool:
        """Whether a field is shown with these words."""
        return any(field.get("showname") == words for field in self.tree.iter("field"))

    def messages(self, kind: str) -> Iterator[Dissected]:
        """TLS handshake messages of one type."""
        for field in self.tree.iter("field"):
            types = [each.get("show") for each in field if each.get("name") == "tls.handshake.type"]
            if field.get("name") == "tls.handshake" and types == [kind]:
                yield Dissected(field)


def packets_by_tshark(capture: Path, keys: Path | None, port: int) -> list[Dissected]:
    """All packets from and to the server's port."""
    of_port = f"(tcp.port=={port} || udp.port=={port}) && !icmp"
    command = ["tshark", "-n", "-r", str(capture), "-Y", of_port, "-T", "pdml"]
    command += ["-d", f"tcp.port=={port},tls", "-d", f"udp.port=={port},quic"]
    command += ["-o", f"tls.keylog_file:{keys}"] if keys else []
    shown = subprocess.run(command, capture_output=True, check=True).stdout
    return [Dissected(packet) for packet in ElementTree.fromstring(shown).iter("packet")]


def of_first_connection(packets: list[Dissected]) -> list[Dissected]:
    """Packets of the client socket that talked first."""
    first = _client_port(packets[0])
    return [packet for packet in packets if _client_port(packet) == first]


def _client_port(packet: Dissected) -> str:
    ports = [*packet.values("tcp.port"), *packet.values("udp.port")]
    return next(port for port in ports if port not in ("443", "8443"))


def hellos_by_tshark(packets: list[Dissected]) -> dict[str, Any]:
    """What the hellos of one connection say, and what of QUIC's headers is in clear."""
    offers = [hello for packet in packets for hello in packet.messages(_CLIENT_HELLO)]
    answers = [hello for packet in packets for hello in packet.messages(_SERVER_HELLO)]
    chosen = [hello for hello in answers if _RETRY_REQUEST not in _digits(hello.values("tls.handshake.random"))]
    exchanges = [message for packet in packets for message in packet.messages(_SERVER_KEY_EXCHANGE)]
    extensions = [message for packet in packets for message in packet.messages(_ENCRYPTED_EXTENSIONS)]
    offer, choice = offers[0], chosen[0]
    versions = choice.named("tls.handshake.extensions.supported_version") or choice.named("tls.handshake.version")
    groups = choice.named("tls.handshake.extensions_key_share_group")
    groups += [name for each in exchanges for name in each.named("tls.handshake.server_named_curve")]
    answer = extensions[0] if extensions else choice
    is_quic = bool(packets[0].values("udp.port"))
    facts = {
        "transport": "quic" if is_quic else "tcp",
        "tls_version": versions[0],
        "tls_cipher": choice.named("tls.handshake.ciphersuite")[0],
        "tls_group": groups[0],
        "hello_retry_request": len(chosen) < len(answers),
        "alpn_offered": offer.values("tls.handshake.extensions_alpn_str"),
        "early_data_offered": offer.is_shown(_EARLY_DATA),
    }
    if versions[0] == "TLS 1.3":
        facts["resumed"] = choice.is_shown(_PRE_SHARED_KEY)
    if extensions or versions[0] == "TLS 1.2":
        facts["alpn"] = (answer.values("tls.handshake.extensions_alpn_str") or [UNPROVEN])[0]
    if facts["tls_group"] == "Unknown":  # to this version of tshark
        del facts["tls_group"]
    return facts | (_quic(packets, offer) if is_quic else {})


def _quic(packets: list[Dissected], offer: Dissected) -> dict[str, Any]:
    kinds = Counter(kind for packet in packets for kind in packet.named("quic.long.packet_type"))
    kinds += Counter(kind for packet in packets for kind in packet.named("quic.long.packet_type_v2"))
    versions = [version for packet in packets for version in packet.values("quic.version")]
    return {
        "quic_version": _VERSIONS[[version for version in versions if version != "0x00000000"][-1]],
        "quic_version_negotiation": "0x00000000" in versions,
        "quic_retry": kinds["Retry"] > 0,
        "early_data_packets": kinds["0-RTT"],
        "quic_parameters_client": {
            name: int(offer.values(f"tls.quic.parameter.{name}")[0], 0)
            for name in ("initial_max_data", "max_idle_timeout", "initial_max_streams_uni")
            if offer.values(f"tls.quic.parameter.{name}")
        },
    }


def wire_by_tshark(packets: list[Dissected], port: int) -> dict[str, Any]:
    """ECN codepoints and payload by sender, and the client's sockets, in order."""
    ecn = {"client": Counter[str](), "server": Counter[str]()}
    sockets: dict[str, Counter[str]] = {}
    for packet in packets:
        protocol = "udp" if packet.values("udp.dstport") else "tcp"
        up = packet.values(f"{protocol}.dstport")[0] == str(port)
        sender, end = ("client", "src") if up else ("server", "dst")
        (address,) = packet.values(f"ip.{end}") or [f"[{packet.values(f'ipv6.{end}')[0]}]"]
        codepoint = packet.values("ip.dsfield.ecn") or packet.values("ipv6.tclass.ecn")
        ecn[sender][_ECN[int(codepoint[0], 0)]] += 1
        payload = int(packet.values("tcp.len")[0]) if protocol == "tcp" else int(packet.values("udp.length")[0]) - 8
        name = f"{protocol} {address}:{packet.values(f'{protocol}.{end}port')[0]}"
        sockets.setdefault(name, Counter(client=0, server=0))[sender] += payload
    return {"ecn_client": dict(ecn["client"]), "ecn_server": dict(ecn["server"]), "sockets": sockets}


def _digits(values: list[str]) -> list[str]:
    return [value.replace(":", "") for value in values]
