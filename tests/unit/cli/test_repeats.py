# SPDX-License-Identifier: Apache-2.0
"""Why trials were repeated, in one line."""

from __future__ import annotations

from quiclab.cli.repeats import told_causes, told_repeats

_LATE = "the link: 1 % of its packets left at least {} late (bound 1.2 ms): this machine is too busy"
_WAITED = "the {} waited 12.5 ms for a processor during the transfer (bound 5.0 ms): this machine is too busy"
_COST = "disturbed: about {} ms (3.1 %) of this trial's time came from this machine; 1 % is allowed: {}"


def test_causes_are_counted_the_most_frequent_first() -> None:
    reasons = [_WAITED.format("client"), *(_LATE.format(late) for late in ("250 us", "4 ms", "1.3 ms"))]
    assert told_repeats(reasons) == (
        "4 trials repeated: 3 × other programs used the CPU (link up to 4 ms late), 1 × the client waited for a "
        "processor"
    )


def test_an_only_cause_has_no_number_of_its_own() -> None:
    told = told_repeats([_COST.format(12, "client waited for a processor")])
    assert told == "1 trial repeated: client waited for a processor"


def test_reasons_that_differ_in_their_numbers_are_one_cause() -> None:
    reasons = [f"the server was stopped from outside for {ms} ms" for ms in ("1.0", "20.0")]
    assert told_causes(reasons) == "such as the server was stopped from outside for 20.0 ms"


def test_seldom_causes_are_counted_together() -> None:
    reasons = [name for number, name in enumerate("abcdef", 1) for _ in range(number)]
    assert told_causes(reasons) == "6 × f, 5 × e, 4 × d, 3 × c, 3 × something else"
