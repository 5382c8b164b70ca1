# SPDX-License-Identifier: Apache-2.0
"""Models of loss, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.model.bounds import MeanTime
from quiclab.model.units import Share


@dataclass(frozen=True)
class Bernoulli:
    """Loss with the same probability for each packet, which is lost by itself unless there is a correlation."""

    probability: Share
    """Probability that a packet is lost."""
    correlation: Share | None = None
    """Probability that a packet has the fate of the one before it instead: the share that is lost stays `probability`,
    and the correlation of neighbours is this. (netem's correlation of losses shifts their share: 1 % with 25 % loses
    next to nothing.) None by default."""

    def __str__(self) -> str:
        return f"{self.probability}" + ("" if self.correlation is None else f", correlation {self.correlation}")


@dataclass(frozen=True)
class GilbertElliott:
    """Gilbert–Elliott loss: two states, and one draw per packet for the transition, so that bursts are counted in
    packets."""

    good_to_bad: Share
    """Probability, per packet, of leaving the good state."""
    bad_to_good: Share
    """Probability, per packet, of leaving the bad state: its inverse is the mean burst in packets."""
    loss_good: Share = Share(0.0)
    """Probability of loss in the good state."""
    loss_bad: Share = Share(1.0)
    """Probability of loss in the bad state."""

    def __str__(self) -> str:
        return f"bursts, {self.good_to_bad} in, {self.bad_to_good} out per packet"


@dataclass(frozen=True)
class Bursts:
    """Gilbert–Elliott loss in continuous time: both protocols meet the same outages, whatever their packet rates."""

    mean_good: MeanTime
    """Mean length of a good period; lengths are exponential."""
    mean_bad: MeanTime
    """Mean length of a bad period; lengths are exponential."""
    loss_good: Share = Share(0.0)
    """Probability of loss in the good state."""
    loss_bad: Share = Share(1.0)
    """Probability of loss in the bad state."""

    def __str__(self) -> str:
        return f"bursts, {self.mean_bad} every {self.mean_good}"


@dataclass(frozen=True)
class DropList:
    """Exactly these packets are lost: numbers of IP packets of the workload in this direction, from 0."""

    packets: tuple[int, ...]
    """Numbers of the packets."""

    def __str__(self) -> str:
        return f"{len(self.packets)} listed packets"


@dataclass(frozen=True)
class LossTrace:
    """Losses as they were recorded, in a file that is copied into the study."""

    trace: str
    """File of the recording, absolute or relative to the spec."""
    by: Literal["time", "packet"] = "time"
    """`time`: a line has an instant in milliseconds, from where the model begins, and the share of packets that is lost
    from then on, in per cent; the last one holds until the schedule's period ends. `packet`: a line for each packet
    of the direction, 1 if it was lost, else 0; it begins anew after the last one."""

    def __str__(self) -> str:
        return f"recorded by {self.by}, {self.trace.rpartition('/')[2]}"


Loss = Bernoulli | GilbertElliott | Bursts | DropList | LossTrace
