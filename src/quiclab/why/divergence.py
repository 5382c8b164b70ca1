# SPDX-License-Identifier: Apache-2.0
"""Two transfers aligned by role: how long each took for its handshake, its request, each tenth of its bytes."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.why.account import MAIN, UNIONS, What, Why, with_of

FloatArray = npt.NDArray[np.float64]
_TENTHS = 10
_SET_UP = [str(why) for why in (*UNIONS[Why.SET_UP], Why.AMPLIFICATION_LIMIT, Why.SET_UP_LOSS)]


class Role(enum.StrEnum):
    """A stretch that every transfer has, whatever carries it, in the order of time; the last is only of uploads."""

    SET_UP = "handshake"
    REQUEST = "request"
    TENTH_1 = "first tenth of the bytes"
    TENTH_2 = "second tenth"
    TENTH_3 = "third tenth"
    TENTH_4 = "fourth tenth"
    TENTH_5 = "fifth tenth"
    TENTH_6 = "sixth tenth"
    TENTH_7 = "seventh tenth"
    TENTH_8 = "eighth tenth"
    TENTH_9 = "ninth tenth"
    TENTH_10 = "last tenth"
    ANSWER = "server's answer"

    @property
    def heading(self) -> str:
        """Name of the role for readers."""
        return self.value


def roles(study: OpenedStudy, pairs: Sequence[tuple[str, str]]) -> list[FloatArray]:
    """Arrays (pairs, arms) of ms, one for each role, of transfers or of start-ups."""
    ms = np.array([[_trial_roles_ms(study, trial) for trial in pair] for pair in pairs])
    return [ms[:, :, at] for at in range(len(Role))]


def _trial_roles_ms(study: OpenedStudy, trial_id: str) -> FloatArray:
    account = study.trial_table("account", trial_id)
    if account is None:
        return np.zeros(len(Role))
    return role_ms(with_of(account).filter(MAIN))


def role_ms(account: pl.DataFrame) -> FloatArray:
    """Time that one transfer took for each role, by its account, and nothing for a page's load. A tenth ends when its
    last new byte was served."""
    if account["why"].eq(str(Why.BROWSER)).any():  # a page has many set-ups and requests
        return np.zeros(len(Role))
    length = account["until_ns"].to_numpy() - account["from_ns"].to_numpy()
    served_ns = account.filter(pl.col("why") == str(Why.LINK_BUSY))["from_ns"].min()
    before = account if served_ns is None else account.filter(pl.col("from_ns") < served_ns)
    set_up = int(before.filter(pl.col("why").is_in(_SET_UP))["until_ns"].max() or 0)  # type: ignore[arg-type]
    zero, end = int(account["from_ns"][0]), int(account["until_ns"][-1])
    answer = account.filter(pl.col("why") == str(Why.ANSWER))["from_ns"].min()
    last = answer if isinstance(answer, int) else end
    set_up = max(set_up, zero)
    of_bodies = pl.col("what").is_in([str(What.PAYLOAD), str(What.OTHER_OBJECT)])
    served = account.select(pl.when(of_bodies).then(pl.col("size_bytes")).fill_null(0))
    bytes_served = np.where(account["from_ns"].to_numpy() >= set_up, served.to_series().cast(pl.Int64).to_numpy(), 0)
    busy = np.flatnonzero(bytes_served)
    if not busy.size:
        return np.array([set_up - zero, last - set_up, *([0] * _TENTHS), end - last]) / 1e6
    begin = int(account["from_ns"][int(busy[0])])
    total = np.cumsum(bytes_served)
    ends = [begin]
    for tenth in range(1, _TENTHS):
        target = total[-1] * tenth / _TENTHS
        at = int(np.searchsorted(total, target))
        share = (total[at] - target) / bytes_served[at]
        ends.append(round(int(account["until_ns"][at]) - share * int(length[at])))
    ends.append(last)
    return np.array([set_up - zero, begin - set_up, *np.diff(ends), end - last]) / 1e6
