# SPDX-License-Identifier: Apache-2.0
"""Code that the command curl and the library of curl-cffi share: libcurl with ngtcp2 as a sender."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.endpoints._tcp import tcp_sender_facts
from quiclab.lab.endpoints._versions import Known
from quiclab.model.study import Program, Protocol, Tcp


class LibcurlUpload:
    """Uploads by PUT from memory, or from a file in memory."""

    known: Known

    def unsupported_upload(self, program: Program) -> str | None:
        """Every setting works with uploads."""
        return None

    def upload_facts(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender: ngtcp2's defaults, which libcurl does not change, or the kernel's TCP."""
        if protocol != "h3":
            return tcp_sender_facts(tcp)
        sending = {
            "congestion_control": "ngtcp2 cubic with beta 0.7",
            "initial_window": "10 packets",
            "pacing": "paced",
        }
        return self.known.traits(program, sending)
