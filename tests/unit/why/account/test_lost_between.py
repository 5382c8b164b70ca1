# SPDX-License-Identifier: Apache-2.0
"""Kinds of losses between two captures, of simulated senders over paths whose losses are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from quiclab.model.tables.drop_reasons import DropKind
from quiclab.why.account.lost_between import FEWEST_LOSSES, Crossing, Losses, kinds_of_losses

MS = 1_000_000
ONE_WAY_NS, ROUND_TRIP_NS = 20 * MS, 40 * MS
SIZE = 1500
RATE = 8e6 / 8e9
"""Bytes in a nanosecond of a policer, and of a bottleneck."""
BUCKET = 30_000

Path = Callable[[int], float]
"""Delay of a packet that is sent at an instant; NaN where it is lost."""


def policer(rate: float = RATE, size: float = BUCKET) -> Path:
    """A bucket that is full at first, and that drops what finds too little in it."""
    tokens, filled_ns = size, 0

    def delay(now_ns: int) -> float:
        nonlocal tokens, filled_ns
        tokens, filled_ns = min(size, tokens + rate * (now_ns - filled_ns)), now_ns
        if tokens < SIZE:
            return np.nan
        tokens -= SIZE
        return ONE_WAY_NS

    return delay


def queue(rate: float = RATE, size: float = BUCKET) -> Path:
    """A bottleneck with room for so many bytes, which drops what comes when it is full."""
    free_ns = 0.0

    def delay(now_ns: int) -> float:
        nonlocal free_ns
        waits_ns = max(0.0, free_ns - now_ns)
        if waits_ns * rate + SIZE > size:
            return np.nan
        free_ns = now_ns + waits_ns + SIZE / rate
        return ONE_WAY_NS + waits_ns + SIZE / rate

    return delay


def random_loss(share: float) -> Path:
    """A fast path that loses each packet with the same probability."""
    rng = np.random.default_rng(7)
    return lambda _: np.nan if rng.random() < share else ONE_WAY_NS


def sent_over(*paths: Path, flights: int = 60, others: int = 0) -> Crossing:
    """Packets of a sender that sends a window in each round trip, spread over half of it; the window doubles until the
    first loss, and then grows by one packet, or is halved. Of `others` packets that another flow sends over the same
    paths in each round trip no capture is there."""
    window, grows = 10, True
    rows = []
    for flight in range(flights):
        own = [(ROUND_TRIP_NS // 2 * at // window, True) for at in range(window)]
        theirs = [(ROUND_TRIP_NS * at // others, False) for at in range(others)]
        lost = False
        for offset_ns, is_own in sorted(own + theirs):
            now_ns = flight * ROUND_TRIP_NS + offset_ns
            delays = []
            for path in paths:
                delays.append(path(now_ns))
                if np.isnan(delays[-1]):
                    break
            if is_own:
                rows.append((now_ns, float(np.max(delays))))
                lost |= bool(np.isnan(rows[-1][1]))
        grows &= not lost
        window = max(2, window // 2) if lost else window * 2 if grows and window < 200 else window + 1
    sent_ns, delay_ns = (np.array(each) for each in zip(*rows, strict=True))
    if np.isnan(delay_ns).all():
        raise AssertionError("nothing came")
    return Crossing(sent_ns.astype(np.int64), np.full(len(sent_ns), SIZE, dtype=np.int64), delay_ns.astype(np.float64))


def share(found: Losses, kind: DropKind | None) -> float:
    return found.number(kind) / len(found.kinds)


def test_losses_of_a_policer_are_its_own_and_show_its_rate_and_its_bucket() -> None:
    found = kinds_of_losses(sent_over(policer()))
    assert len(found.kinds) >= FEWEST_LOSSES
    assert share(found, DropKind.POLICER) == 1.0
    assert found.bucket is not None
    assert found.bucket.rate_bit_per_s == pytest.approx(8e6, rel=0.01)
    assert found.bucket.size_bytes == pytest.approx(BUCKET, abs=2 * SIZE)
    assert found.bucket.contrary == 0
    assert found.unknown_why == ""


def test_a_queue_of_the_same_rate_and_room_is_none() -> None:
    """Bytes alone make no difference between the two: only the delay tells."""
    found = kinds_of_losses(sent_over(queue()))
    assert share(found, DropKind.QUEUE) == 1.0
    assert found.bucket is not None
    assert found.bucket.rate_bit_per_s == pytest.approx(8e6, rel=0.02)
    assert found.bucket.size_bytes == pytest.approx(BUCKET, abs=2 * SIZE)


def test_random_losses_are_of_the_path() -> None:
    found = kinds_of_losses(sent_over(random_loss(0.02), flights=200))
    assert len(found.kinds) >= FEWEST_LOSSES
    assert found.bucket is None
    assert share(found, DropKind.LOSS) == 1.0


def test_without_losses_nothing_is_said() -> None:
    found = kinds_of_losses(sent_over(random_loss(0)))
    assert (found.kinds, found.bucket, found.unknown_why) == ((), None, "")


def test_few_losses_have_no_kind() -> None:
    crossing = sent_over(policer(), flights=60)
    few = np.flatnonzero(crossing.lost)[FEWEST_LOSSES - 1]
    part = Crossing(crossing.sent_ns[:few], crossing.size_bytes[:few], crossing.delay_ns[:few])
    found = kinds_of_losses(part)
    assert found.kinds == (None,) * (FEWEST_LOSSES - 1)
    assert "show no pattern" in found.unknown_why


@pytest.mark.parametrize(("faster", "kinds"), [(1.25, {None}), (3, {DropKind.POLICER})])
def test_a_policer_in_front_of_a_bottleneck_is_no_queue(faster: float, kinds: set[DropKind | None]) -> None:
    """Packets that pass in a burst wait behind it: for less than in a queue of its rate, but where the bottleneck is
    hardly faster the two are too near each other to be told apart."""
    found = kinds_of_losses(sent_over(policer(), queue(rate=RATE * faster, size=1e9)))
    assert {*found.kinds} == kinds
    assert bool(found.unknown_why) == (None in kinds)


def test_random_losses_beside_a_policer_are_told_apart() -> None:
    found = kinds_of_losses(sent_over(random_loss(0.0003), policer(), flights=400))
    assert share(found, DropKind.POLICER) > 0.6
    assert found.number(DropKind.LOSS) >= 1
    assert found.number(DropKind.QUEUE) == 0


@pytest.mark.parametrize("others", [10, 20])
def test_a_policer_that_others_share_is_not_taken_for_the_path(others: int) -> None:
    """The captures do not have the others' packets, so that no bucket explains the losses; they still fall where much
    was sent, as none of the path do."""
    found = kinds_of_losses(sent_over(policer(), flights=150, others=others))
    assert len(found.kinds) >= FEWEST_LOSSES
    assert share(found, DropKind.LOSS) < 0.05
    assert found.number(DropKind.QUEUE) == 0


def test_a_queue_that_others_fill_is_a_queue_or_unknown() -> None:
    found = kinds_of_losses(sent_over(queue(), flights=150, others=15))
    assert len(found.kinds) >= FEWEST_LOSSES
    assert found.number(DropKind.POLICER) == 0
    assert share(found, DropKind.LOSS) < 0.05


@pytest.mark.parametrize("share_lost", [0.01, 0.05])
def test_a_rate_that_is_found_by_chance_is_none(share_lost: float) -> None:
    """No random loss of twelve transfers is given to a policer or a queue."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        crossing = sent_over(random_loss(0), flights=10)
        delay_ns = np.where(rng.random(len(crossing.delay_ns)) < share_lost, np.nan, crossing.delay_ns)
        found = kinds_of_losses(Crossing(crossing.sent_ns, crossing.size_bytes, delay_ns))
        assert {*found.kinds} <= {DropKind.LOSS, None}
