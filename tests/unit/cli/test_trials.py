# SPDX-License-Identifier: Apache-2.0
"""What is told when the trials of a study are over."""

from __future__ import annotations

import pytest

from quiclab.cli.trials import tell
from quiclab.study.trials import Outcome


@pytest.mark.parametrize(
    ("trials", "told"),
    [
        ((), ""),
        (("7e57",), "trial 7e57 has no tables yet: `quiclab report` makes them, or says what is wrong"),
        (("7e57", "07e5"), "trial 7e57 and 1 other have no tables yet: `quiclab report` makes them, or says what is"),
        (("7e57", "07e5", "a"), "trial 7e57 and 2 others have no tables yet: `quiclab report` makes them, or says"),
    ],
)
def test_trials_without_tables(trials: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is lost: the code stays that of the trials."""
    assert tell(Outcome(0, 0, 0, {}, without_tables=trials)) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(told)
    assert bool(out) == bool(told)
