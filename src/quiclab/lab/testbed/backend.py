# SPDX-License-Identifier: Apache-2.0
"""Choice of the link's backend: TUN where its device opens, else veth with packet sockets."""

from __future__ import annotations

import fcntl
import os
import struct

from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.namespace import NetworkNamespace

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000


def choose_backend() -> tuple[Backend, str]:
    """The backend and the reason. Must run inside the sandbox."""
    problem = tun_problem()
    if problem is None:
        return "tun", "/dev/net/tun opens"
    return "veth", f"/dev/net/tun: {problem}"


def tun_problem() -> str | None:
    """Reason why a TUN device cannot be made here, or None. Must run inside the sandbox."""

    def attempt() -> str | None:
        try:
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            return error.strerror
        try:
            fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"probe0", _IFF_TUN | _IFF_NO_PI | _IFF_VNET_HDR))
        except OSError as error:
            return f"TUNSETIFF: {error.strerror}"
        finally:
            os.close(device)
        return None

    with NetworkNamespace() as namespace:
        return namespace.run(attempt)
