# SPDX-License-Identifier: Apache-2.0
"""Claims about means over several arms, and cells without a trial that counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_paper import CLEAR, direction, judged, number
from synthetic_study import Shape, write_study

from quiclab.compare.papers.claim_verdict import Verdict

THREE = replace(CLEAR, baselines={"h2": "h2", "h3": "h2", "h3-other": "h2"})
BOTH = ["h3", "h3-other"]


def scaled(directory: Path, shape: Shape, **by_arm: float) -> Path:
    """A study in which the time of an arm is this number of milliseconds, and a little more in later blocks."""
    write_study(directory, shape)
    trials = pl.read_parquet(directory / "tables" / "trials.parquet").select("trial_id", "arm", "block")
    metrics = pl.read_parquet(directory / "metrics.parquet").join(trials, on="trial_id", how="left")
    base = pl.col("arm").replace_strict(by_arm | {"h3-other": by_arm["other"]}, default=None, return_dtype=pl.Float64)
    times = pl.when(pl.col("name") == "ttlb_ms").then(base * (1 + pl.col("block") / 1000)).otherwise("value")
    metrics.with_columns(value=times).drop("arm", "block").write_parquet(directory / "metrics.parquet")
    return directory


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_a_number_and_an_advantage_of_a_mean_over_arms(tmp_path: Path, statistic: str) -> None:
    """60 and 100 ms are 80 ms on average over both, which are 20 % less than 100."""
    study = scaled(tmp_path, THREE, h2=100, h3=60, other=100)
    keys = {"statistic": statistic}
    one, gain, more, lower = judged(
        study, number("81 ms", 79, 83, "ms", arms=[BOTH], **keys),
        number("20 %", 18, 22, "%", arms=["h2", BOTH], **keys),
        number("-20 ms", -22, -18, "ms", kind="difference", arms=["h2", BOTH], **keys),
        direction("lower", arms=["h2", BOTH]),
    )  # fmt: skip
    assert [each.verdict for each in (one, gain, more, lower)] == [Verdict.AGREES] * 4
    assert (one.cells[0].ours, one.cells[0].n) == (pytest.approx(80.76, rel=1e-3), 20)
    assert gain.cells[0].ours == pytest.approx(20, rel=1e-3)
    assert lower.claim.sides == ("h2", "mean of h3 and h3-other")


def test_blocks_without_one_of_the_arms_do_not_count(tmp_path: Path) -> None:
    """A mean over arms is of blocks in which all of them are."""
    lost = frozenset({("loss/100 KB", "h3", 3), ("loss/100 KB", "h3-other", 7)})
    (found,) = judged(
        scaled(tmp_path, replace(THREE, lost=lost), h2=100, h3=60, other=100),
        number("81 ms", 79, 83, "ms", arms=[BOTH], statistic="mean"),
    )
    assert (found.verdict, found.cells[0].n) == (Verdict.AGREES, 18)


def test_one_failed_arm_fails_the_mean(tmp_path: Path) -> None:
    """A mean of values has no meaning then; a direction ranks the block worst."""
    shape = replace(THREE, failures=frozenset({("loss/100 KB", "h3-other", 3)}))
    mean, lower = judged(
        scaled(tmp_path, shape, h2=100, h3=60, other=100),
        number("81 ms", 79, 83, "ms", arms=[BOTH], statistic="mean"), direction("lower", arms=["h2", BOTH]),
    )  # fmt: skip
    assert (mean.verdict, lower.verdict) == (Verdict.INCONCLUSIVE, Verdict.AGREES)
    assert mean.cells[0].why == "1 of 20 trials of h3-other failed: a mean has no meaning then."


def test_what_the_machine_added_to_one_arm_is_in_the_mean(tmp_path: Path) -> None:
    """Half of what it may have added to one of two arms may be in their mean."""
    calm, disturbed = (
        judged(
            write_study(tmp_path / name, replace(THREE, disturbed=known)), number("1 s", 1, 9999, "ms", arms=[BOTH])
        )[0].cells[0]
        for name, known in (("calm", {}), ("disturbed", {"h3": 5.0}))
    )
    assert calm.interval is not None
    assert disturbed.interval is not None
    assert disturbed.ours == calm.ours
    assert disturbed.interval.low == pytest.approx(calm.interval.low * 0.975, rel=2e-2)


def test_a_cell_whose_pairs_all_stayed_disturbed_was_not_judged(tmp_path: Path) -> None:
    """The trials ran, and none of them counts: that is no reason to call the claim untestable."""
    lost = frozenset(("loss/100 KB", arm, block) for arm in ("h2", "h3") for block in range(20))
    study = write_study(tmp_path, replace(CLEAR, lost=lost))
    claims = direction("lower"), number("81 ms", 79, 83, "ms", arms=["h2"]), direction("lower", metric="warmth")
    for each in judged(study, *claims):
        assert each.verdict is Verdict.NOT_JUDGED
        assert each.cells[0].why.startswith("Disturbed: none of 20 trials of h2 counts. Run `quiclab run ")


def test_a_cell_with_two_pairs_left_was_not_judged(tmp_path: Path) -> None:
    """The laboratory took the pairs that an interval would take."""
    lost = frozenset(("loss/100 KB", arm, block) for arm in ("h2", "h3") for block in range(18))
    study = write_study(tmp_path, replace(CLEAR, lost=lost))
    both = judged(study, direction("lower"), number("1 s", 1, 9999, "ms", arms=["h2"], statistic="mean"))
    assert [each.verdict for each in both] == [Verdict.NOT_JUDGED] * 2
    assert all(each.cells[0].why.startswith("Disturbed: 2 of 20 ") for each in both)
