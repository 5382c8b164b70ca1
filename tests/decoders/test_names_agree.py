# SPDX-License-Identifier: Apache-2.0
"""The same notion has the same name, whichever log tells of it: a NetLog and captures of one browser and server."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from quiclab.logs.decoders import Context, decoder_of

HERE = Path(__file__).parent
ANNOUNCED = re.compile(r"(settings|parameters_set)\.(client|server)\.")
NUMBERED = re.compile(r"parameters_set\.(client|server)\.0x[0-9a-f]+")
"""A transport parameter without a name: of a reserved one (RFC 9000 section 18.1) only a NetLog tells."""
GREASE = re.compile(r"settings\.client\.0x[0-9a-f]{6,}")
"""A setting of HTTP/3 that browsers draw at random (RFC 9114 section 7.2.4.1)."""
OF_HANDSHAKE = {
    *("parameters_set.server.tls_cipher", "parameters_set.server.tls_group"),
    *("parameters_set.client.version_information", "parameters_set.client.chosen_version"),
    "parameters_set.client.other_versions",
}
"""What a NetLog tells in other events, or in other parts."""


def names(path: Path, key_logs: tuple[Path, ...] = ()) -> set[str]:
    """Names of all that was announced in a log of the client."""
    decoder = decoder_of(path)
    assert decoder is not None
    parameters = decoder.decode(path, Context(vantage="client", key_logs=key_logs)).tables["parameters"]
    return {
        GREASE.sub("settings.client.grease", name)
        for name in parameters["name"]
        if ANNOUNCED.match(name) and not NUMBERED.match(name)
    } - OF_HANDSHAKE


@pytest.mark.parametrize(
    ("netlog", "capture", "keys"),
    [
        ("chromium-h2", "tls/chromium-caddy-client.pcapng.xz", ()),
        ("chromium-h3", "quic/chromium-client.pcapng.xz", (HERE / "quic" / "chromium.keys",)),
    ],
)
def test_announcements_in_a_netlog_and_in_a_capture(
    netlog: str, capture: str, keys: tuple[Path, ...], tmp_path: Path
) -> None:
    """SETTINGS and transport parameters have one set of names."""
    path = tmp_path / "client.pcapng"
    path.write_bytes(lzma.decompress((HERE / capture).read_bytes()))
    told = names(path, keys)
    assert len(told) >= 10
    assert names(HERE / "netlog" / f"{netlog}.json.gz") == told
