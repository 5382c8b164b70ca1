# SPDX-License-Identifier: Apache-2.0
"""Test of this machine's timekeeping: a real link for a moment, and the paths that could bear its lateness.

Decision 4 (docs/decisions/0004-how-late-is-too-late.md) says what a path bears. Must run inside the sandbox, as the
user whose studies it is about: root's link may have real-time priority.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, Backend, Link, LinkSettings
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.processor_use import ProcessorUse, ran_s
from quiclab.lab.testbed.run_delay import run_delays
from quiclab.model.study import Direction, Path
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.link import ONE_WAY_DELAY_SHARE, PUNCTUAL, link_config

_LASTS_S = 2.0
_GAP_S = 0.002
_PORT = 5003
_FULL_PACKET_BITS = 1500 * 8
_SIDE = Direction(rate=Bitrate(10_000_000), delay=Duration(10_000_000))
"""A usual path: 10 Mbit/s, and an RTT of 20 ms."""
MOST_WAITED = 0.4
"""Share beyond which ends wait too long: one that needs a processor for a third of its transfer then waits for more
than a fifth of it, which is void."""
SLOWEST_PROMISED = Bitrate(1_000_000)
"""Rate below which it is no use to name the paths that would still bear the lateness."""


@dataclass(frozen=True)
class Timekeeping:
    """Lateness of the link's packets during the test, and of another program's waits."""

    packets: int
    p50_ns: int
    p99_ns: int
    max_ns: int
    real_time: str
    """Scheduling of the link's process: `deadline`, `fifo`, or `none`."""
    load: float
    """Programs that wanted a processor, on average of the last minute."""
    processors: int
    waited: float
    """Share of its time that a program that always wanted a processor had to wait for one, as clients and servers do:
    they have no priority."""
    slice_ns: int | None
    """Slice of the link's thread, which a shorter one than that of other programs lets go before them; None where it is
    real-time, or the kernel has none (before Linux 6.12)."""

    others: float
    """Processors that other programs used during the test, on average."""
    stolen: float
    """Processors that a hypervisor gave to other machines during the test, on average, while programs wanted them."""

    @property
    def for_every_path(self) -> bool:
        """True if even the fastest and shortest path bears it, and the ends would have a processor."""
        return self.p99_ns <= PUNCTUAL.ns and not self.ends_wait

    @property
    def ends_wait(self) -> bool:
        """True if clients and servers would often wait for longer than decision 4 allows."""
        return self.waited > MOST_WAITED

    @property
    def most_bit_per_s(self) -> int:
        """Rate up to which a path bears it, as a packet of 1500 bytes takes that long there."""
        return _FULL_PACKET_BITS * 1_000_000_000 // max(1, self.p99_ns)

    @property
    def least_rtt_ns(self) -> int:
        """RTT from which on a path bears it, whatever its rate."""
        return round(2 * self.p99_ns / ONE_WAY_DELAY_SHARE)

    @property
    def summary(self) -> str:
        """The numbers and the verdict, in words."""
        p50, p99, most = (short_time(ns) for ns in (self.p50_ns, self.p99_ns, self.max_ns))
        numbers = f"packets left the link ({self._scheduling}) late by {p50} (p50), {p99} (p99), {most} (max)"
        if self.ends_wait:
            return (
                f"{numbers}, but programs without priority wait {self.waited:.0%} of their time for a processor: many "
                "trials would be disturbed and repeated, as client or server waits"
            )
        if self.for_every_path:
            return f"{numbers}: punctual enough for every path"
        if self.most_bit_per_s < SLOWEST_PROMISED.bit_per_s:
            return f"{numbers}: too late for nearly every path; many trials would be disturbed and repeated"
        return (
            f"{numbers}: enough for paths of at most {_rate(self.most_bit_per_s)}, or with an RTT of at least "
            f"{short_time(self.least_rtt_ns)}; over faster and shorter ones some trials would be disturbed and repeated"
        )

    @property
    def _scheduling(self) -> str:
        """Scheduling of the link's thread, in words."""
        if self.real_time != "none":
            return f"real-time: {self.real_time}"
        if self.slice_ns is None:
            return "no precedence, as this kernel has no slices"
        return f"not real-time, slice {short_time(self.slice_ns)}"

    @property
    def remedy(self) -> str:
        """Advice that would help; empty where nothing needs to."""
        if self.for_every_path:
            return ""
        helps = []
        if self.ends_wait or self.load > 0.5 * self.processors:
            helps.append(f"end other programs (load {self.load:.1f} on {self.processors} processors)")
        else:
            helps.append("leave a processor idle: use a machine with more, or one that is less shared")
        if self.real_time == "none":
            helps.append("run as root (sudo), which gives the link real-time priority")
            if self.slice_ns is None:
                helps.append("Linux 6.12 or newer, where the link of an ordinary account waits less")
        if not self.ends_wait:
            helps.append("choose slower or longer paths")
        return "; ".join([*helps, "`quiclab run` repeats disturbed trials by itself"])


def keep_time(backend: Backend | None = None) -> Timekeeping:
    """Send packets over a link for 2 s, while another program wants a processor all the time; over the usual `backend`
    if None. Raises HostError where the link cannot run."""
    path = Path("self-test", up=_SIDE, down=_SIDE)
    settings = LinkSettings(
        backend=backend or choose_backend()[0], mtu=path.mtu, model=link_config(path, 1), route=None, work_dir=None,
        packet_log=False, captures=False,
    )  # fmt: skip
    with (
        NetworkNamespace() as client, NetworkNamespace() as server, Link(settings, client, server) as link,
        _busy() as busy,
    ):  # fmt: skip
        ends = [each.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for each in (client, server)]
        for end, addresses in zip(ends, (CLIENT_ADDRESSES, SERVER_ADDRESSES), strict=True):
            end.bind((addresses[4], _PORT))  # what arrives is left in the sockets
        before, own_before_s, link_before_s = ProcessorUse.now(), time.process_time(), ran_s(link.pid)
        while time.monotonic() < before.at_s + _LASTS_S:
            for end, other in zip(ends, (SERVER_ADDRESSES, CLIENT_ADDRESSES), strict=True):
                end.sendto(bytes(1000), (other[4], _PORT))
            time.sleep(_GAP_S)
        time.sleep(2 * _SIDE.delay.s)
        used, stolen = (after := ProcessorUse.now()).since(before)
        own_s = time.process_time() - own_before_s + ran_s(link.pid) - link_before_s
        share, ran = busy()
        others = max(0.0, used - own_s / (after.at_s - before.at_s) - ran)
        summary = link.stop()
        for end in ends:
            end.close()
    from quiclab.model.link_account import LinkAccount
    from quiclab.store.record_form import as_record

    account = as_record(summary, LinkAccount)
    late = {name: int(value) for name, value in account.lateness.items()}
    return Timekeeping(
        late["count"], late["p50_ns"], late["p99_ns"], late["max_ns"], str(summary.get("real_time", "none")),
        os.getloadavg()[0], len(os.sched_getaffinity(0)), share, account.slice_ns,
        others, stolen,
    )  # fmt: skip


@contextmanager
def _busy() -> Iterator[Callable[[], tuple[float, float]]]:
    """Run a program that always wants a processor. Yields what tells the shares of time that it waited so far, 0 where
    the kernel does not count, and that it ran."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) as program:
        began_s, at_begin = time.monotonic(), sum(run_delays(program.pid).values())

        def shares() -> tuple[float, float]:
            elapsed_s = time.monotonic() - began_s
            return (sum(run_delays(program.pid).values()) - at_begin) / 1e9 / elapsed_s, ran_s(program.pid) / elapsed_s

        try:
            yield shares
        finally:
            program.kill()


def short_time(ns: int) -> str:
    """A time for people."""
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns / 1000:.0f} us"


def _rate(bit_per_s: int) -> str:
    mbit = bit_per_s / 1e6
    return f"{mbit:.0f} Mbit/s" if mbit >= 10 else f"{mbit:.2g} Mbit/s"
