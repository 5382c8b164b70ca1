# SPDX-License-Identifier: Apache-2.0
"""The queues below the sockets of a namespace, as the kernel names them."""

from __future__ import annotations

import subprocess

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.queues import queue_kinds

pytestmark = pytest.mark.netns


def test_a_namespaces_queues_have_the_kernels_names() -> None:
    """A device of its own has the kernel's usual queue, and the one that it is given after that."""

    def work() -> list[list[str]]:
        def tc(*words: str) -> None:
            subprocess.run(["tc", "qdisc", *words], check=True)

        def ip(*words: str) -> None:
            subprocess.run(["ip", "link", *words], check=True)

        with NetworkNamespace() as namespace:
            namespace.run(lambda: ip("add", "left", "type", "veth", "peer", "name", "right"))
            namespace.run(lambda: ip("set", "left", "up"))
            before = queue_kinds(namespace)
            namespace.run(lambda: tc("add", "dev", "left", "root", "pfifo"))
            return [before, queue_kinds(namespace)]

    before, after = in_sandbox(work)
    assert "pfifo" not in before
    assert "pfifo" in after
