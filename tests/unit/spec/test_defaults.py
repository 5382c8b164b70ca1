# SPDX-License-Identifier: Apache-2.0
"""Resolved specs of earlier versions, whose keys are fewer."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from specs import SMALL, study_of, with_path

from quiclab.spec.defaults import with_defaults
from quiclab.spec.resolved import resolved_json
from quiclab.store.identity import conflicts

RICH = with_path(
    'loss = {model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "9 %"}\n'
    'schedule = [{at = "9 s", delay = "1 ms"}]\n[path.up]\njitter = {distribution = "normal", scale = "5 ms"}\n'
)


def _lacking(table: Any) -> Iterator[tuple[str, ...]]:
    """Places of every key below a table."""
    inner = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for key, value in inner:
        yield (key,)
        yield from ((key, *rest) for rest in _lacking(value))


@pytest.mark.parametrize("text", [SMALL, RICH])
def test_a_whole_spec_stays_as_it_is(text: str, tmp_path: Path) -> None:
    """Nothing is added to one of this version."""
    resolved = json.loads(json.dumps(resolved_json(study_of(tmp_path, text))))
    assert with_defaults(resolved) == resolved


def test_each_key_that_is_lacking_has_its_default(tmp_path: Path) -> None:
    """Whichever a version did not know yet: with it the spec is the same, and no run is refused for it. What a spec
    must set stays lacking."""
    whole = json.loads(json.dumps(resolved_json(study_of(tmp_path, SMALL))))
    filled, needed = set(), set()
    for place in _lacking(whole):
        if isinstance(place[-1], int):
            continue
        older = copy.deepcopy(whole)
        table: Any = older
        for key in place[:-1]:
            table = table[key]
        del table[place[-1]]
        if with_defaults(older) == whole:
            filled.add(place[-1])
            assert not conflicts(with_defaults(older), whole)
        else:
            needed.add(place[-1])
    assert {"loss_by", "overhead_bytes", "mtu", "ip_version", "certificate"} <= filled
    assert {"name", "seed", "protocol", "client"} <= needed


@pytest.mark.parametrize("wrong", [{"paths": 3}, {"paths": [None]}, {"paths": [{"up": {"loss": {"model": []}}}]}, {}])
def test_what_is_no_spec_is_left_to_those_who_read_it(wrong: dict[str, Any]) -> None:
    """A stranger's file raises nothing here."""
    assert with_defaults(wrong).items() >= {key: value for key, value in wrong.items() if key != "paths"}.items()
