# SPDX-License-Identifier: Apache-2.0
"""Why a sender had not sent a packet of its response earlier: all evidence, in the order in which it counts.

The sender's own word; timers; whether it had anything left that it had not sent; its window and credit; the kernel's
samples; the captures. Where nothing decides, the label says only whether a packet of the other end prompted it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from quiclab.accounting.credit import Credit, credit
from quiclab.accounting.edges import PROMPT_NS, Reason
from quiclab.accounting.kernel import Kernel, kernel
from quiclab.accounting.own_word import OwnWord, own_word
from quiclab.accounting.series import Steps
from quiclab.accounting.timers import Expired, expired
from quiclab.accounting.walk import Before, Cause, Path
from quiclab.accounting.what import What
from quiclab.accounting.why import UNIONS, Why
from quiclab.accounting.window import LoggedWindow, logged_window
from quiclab.metrics import Evidence
from quiclab.metrics.evidence import CAPTURES

_OWN = (Why.PACING, Why.LOSS_TIMER, Why.PROBE_TIMER)
"""Reasons that are timers of the sender."""
_AFTER_WAITING = (Why.PACING_OR_PROGRAM, Why.APPLICATION, Why.UNEXPLAINED)
"""Reasons that say nothing about a time before the last packet came to the sender."""


@dataclass(frozen=True)
class Judge:
    """Everything that is known of one sender."""

    path: Path
    word: OwnWord
    timers: Expired
    window: LoggedWindow
    kernel: Kernel
    credit: Credit
    read_ns: dict[int, int]
    """`index` up → instant at which the sender's log shows the packet, later than it came."""
    last: int
    """Highest offset of the response."""
    answers_ns: int | None
    """Instant at which the server sent the response's headers."""

    def reason(self, position: int, idle_from_ns: int) -> Reason:
        """Why the packet at a position down was not sent while the bottleneck was idle since `idle_from_ns`."""
        down = self.path.down
        sent_ns = down.arrival[position]
        came = self.path.up.last_came(sent_ns)
        came_ns = None if came is None else self.path.up.written[came]
        if self.answers_ns is not None and sent_ns <= self.answers_ns:
            return Reason(Why.REQUEST, "http_requests")
        prompted = came is not None and self._prompted(came, sent_ns)
        timer = self.timers.reason(came_ns, sent_ns, prompted=prompted)
        if timer is not None:
            return timer
        waited_ns = came_ns if prompted and came_ns is not None else sent_ns
        said = self.word.reason(idle_from_ns, sent_ns)
        if said is Why.WINDOW:
            return self._history(waited_ns, "blocked")
        if said is not None:
            return Reason(said, "blocked")
        content = self.path.content(down, position)
        again = content is not None and content.again
        if not prompted:
            return self._unprompted_reason(sent_ns, idle_from_ns, again=again)
        if again and self._all_sent(position):
            return Reason(Why.LOSS_DETECTION, "ip_packets")
        return self._prompted_reason(waited_ns, idle_from_ns, again=again)

    def cause(self, position: int, reason: Reason) -> Cause:
        """What the packet's sending goes back to, given why it came no earlier."""
        if reason.why in _OWN:
            before = Before.SENDING if reason.why is Why.PACING else Before.LATEST
            return Cause(before, What.TIMER)
        came = self.path.up.last_came(self.path.down.arrival[position])
        if came is None or not self._prompted(came, self.path.down.arrival[position]):
            return Cause(Before.LATEST, What.SERVER)
        had_room = reason.why in UNIONS[Why.PACING_OR_PROGRAM] or reason.why is Why.PACING_OR_PROGRAM
        return Cause(Before.SENDING if had_room else Before.ARRIVAL, What.SERVER)

    def before_arrival(self, came_ns: int, reason: Reason) -> Reason:
        """Why the sender had waited for the packet that came at an instant, where it sent later than that for `reason`.

        A window or credit that was used up until then was what it waited for.
        """
        if reason.why not in _AFTER_WAITING:
            return reason
        full, spent = self.window.full(came_ns), self.credit.used_up(came_ns)
        if full and spent:
            return Reason(Why.CONTESTED, "flow_control")
        if spent:
            return Reason(spent, "flow_control")
        return self._history(came_ns) if full else reason

    def _prompted(self, came: int, sent_ns: int) -> bool:
        """Whether the last packet that came let it be sent: within 1 ms of it, or of the log's reading of it."""
        came_ns = self.path.up.written[came] or 0
        read_ns = self.read_ns.get(self.path.up.arrived_as[came], came_ns)
        return sent_ns - came_ns <= PROMPT_NS or came_ns <= read_ns <= sent_ns <= read_ns + PROMPT_NS

    def _all_sent(self, position: int) -> bool:
        content = self.path.content(self.path.down, position)
        return content is not None and content.highest is not None and content.highest[0] >= self.last

    def _history(self, time_ns: int, evidence: str | None = None) -> Reason:
        history = self.window.history if self.window.history.known else self.kernel.history
        found = history.reason(time_ns)
        return replace(found, evidence=evidence) if evidence else found

    def _prompted_reason(self, came_ns: int, idle_from_ns: int, *, again: bool) -> Reason:
        spent = self.credit.used_up(came_ns)
        full = self.window.full(came_ns)
        if full is None and self.kernel.samples and not spent:
            return self._of_kernel(came_ns, idle_from_ns, again=again)
        if full and spent:
            return Reason(Why.CONTESTED, "flow_control")
        if spent:
            return Reason(spent, "flow_control")
        if full:
            return self._history(came_ns)
        if again:
            return Reason(Why.LOSS_DETECTION, "ip_packets")
        if full is None:
            return Reason(Why.AWAITING_ACKS, "ip_packets")
        return Reason(Why.PACING_OR_PROGRAM, "transport_metrics")

    def _of_kernel(self, until_ns: int, idle_from_ns: int, *, again: bool) -> Reason:
        """Reason by a TCP sender's kernel: bytes to send that neither buffer nor receiver holds back wait for a window.

        It may wait with up to a third of the window free, for a longer burst.
        """
        limited = self.kernel.limited(idle_from_ns, until_ns)
        if limited is not None:
            return Reason(limited, "tcp_info")
        had_data = self.kernel.had_data(idle_from_ns, until_ns)
        if had_data:
            return self._history(until_ns)
        if again:
            return Reason(Why.LOSS_DETECTION, "ip_packets")
        if had_data is None:
            return Reason(Why.AWAITING_ACKS, "ip_packets")
        return Reason(Why.APPLICATION, "tcp_info")

    def _unprompted_reason(self, sent_ns: int, idle_from_ns: int, *, again: bool) -> Reason:
        """Nothing came that could have moved a window or a credit: what was sent could have been sent before.

        A kernel repeats a segment without an acknowledgment for no other reason than a timer (RFC 6298, RFC 8985).
        """
        if again and self.kernel.samples:
            return Reason(Why.LOSS_TIMER, "tcp_info")
        limited = self.kernel.limited(idle_from_ns, sent_ns)
        if limited is not None:
            return Reason(limited, "tcp_info")
        if self.kernel.had_data(idle_from_ns, sent_ns) is False:
            return Reason(Why.APPLICATION, "tcp_info")
        if self.window.history.known:
            return Reason(Why.PACING_OR_PROGRAM, "transport_metrics")
        return Reason(Why.UNEXPLAINED if again else Why.PACING_OR_PROGRAM, "ip_packets")


def judge(evidence: Evidence, path: Path, completing: int) -> Judge:
    """Gather what is known of the server of one download, whose response the packet at `completing` completes."""
    down = path.down
    reached = [(down.arrival[p], c.highest) for p in range(len(down.arrival)) if (c := path.content(down, p))]
    used = Steps([at for at, high in reached if high], [high for _, high in reached if high])
    packets = evidence.table("packets").filter(pl.col("vantage") == evidence.sender, pl.col("transport") == "quic")
    own = packets.filter(pl.col("packet_type") == "1RTT", pl.col("event") == "sent").drop_nulls("packet_index")
    numbers = dict(own.select("packet_number", "packet_index").iter_rows())
    logged = packets.filter(pl.col("event") == "received", pl.col("ip_packet").is_null())
    read = dict(logged.drop_nulls(("packet_index", "time_ns")).select("packet_index", "time_ns").iter_rows())
    return Judge(
        path,
        own_word(evidence),
        expired(evidence),
        logged_window(evidence, numbers),
        kernel(evidence),
        credit(evidence, used if evidence.quic else Steps([], [])),
        read,
        _end(path, completing),
        _answers_ns(evidence, reached),
    )


def _end(path: Path, completing: int) -> int:
    """Highest offset sent until the packet that completes the response: TCP's stream goes on behind it."""
    sent = (path.content(path.down, position) for position in range(completing + 1))
    return max((each.highest[0] for each in sent if each and each.highest), default=0)


def _answers_ns(evidence: Evidence, reached: list[tuple[int, tuple[int, int] | None]]) -> int | None:
    """Instant at which the response begins: its headers in the server's capture or log, else the first data."""
    rows = evidence.table("http_requests").filter(pl.col("vantage") == evidence.sender)
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = rows.filter(pl.col("source").is_in(captures))
    first = (captured if captured.height else rows)["headers_ns"].min()
    if isinstance(first, int):
        return first
    return next((at for at, high in reached if high and high[0]), None) if evidence.quic else None
