# SPDX-License-Identifier: Apache-2.0
"""A study may grow, and nothing that has been run may change under its name."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from quiclab.spec.resolved import resolved_json
from quiclab.store.identity import conflicts
from quiclab.study.specs import load_study

DEMO: dict[str, Any] = resolved_json(load_study(Path(__file__).parents[3] / "experiments" / "demo" / "spec.toml"))


def _conflicts(change: str) -> tuple[str, ...]:
    old, new = copy.deepcopy(DEMO), copy.deepcopy(DEMO)
    exec(change, {"old": old, "new": new})
    return conflicts(old, new)


@pytest.mark.parametrize(
    "change",
    [
        "new['blocks'] += 1",
        "new['alpha'] = 0.01",
        "new['question'] = 'other'",
        "new['count_system_calls'] = True; del old['count_system_calls']",
        "new['arms'][0]['client']['knobs']['unheard_of'] = None",
        "new['paths'][0]['title'] = 'other'",
        "new['paths'].append(dict(new['paths'][0], name='more'))",
        "new['workloads'].append(dict(new['workloads'][0], name='more'))",
        "del new['paths'][0]",
        "new['paths'][0]['down']['trace'] = '/copy/x.trace'; old['paths'][0]['down']['trace'] = '/old/x.trace'",
    ],
)
def test_growing_is_allowed(change: str) -> None:
    """What has been run stays true."""
    assert _conflicts(change) == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("new['seed'] = 2", "seed: was 1, is 2"),
        ("new['name'] = 'zzz'", "is zzz"),
        ("new['paths'] = [dict(new['paths'][0], name='only')]", "are only"),
        ("new['paths'][1]['down']['loss']['probability_pct'] = 2.0", "down.loss.probability_pct was 1.0, is 2.0"),
        ("new['workloads'][0]['size_bytes'] = 7", "size_bytes was 100000, is 7"),
        ("new['arms'][0]['client']['knobs']['gso'] = True", "client.knobs.gso was None, is True"),
        ("new['arms'][0]['tcp']['initial_window'] = 10", "tcp.initial_window was 32, is 10"),
        ("new['arms'].append(dict(new['arms'][0], name='more'))", "arm 'more' was not there"),
        ("del new['arms'][1]", "is gone"),
    ],
)
def test_changing_what_ran_is_told(change: str, told: str) -> None:
    """The key and both values are named."""
    found = _conflicts(change)
    assert len(found) == 1
    assert told in found[0]
