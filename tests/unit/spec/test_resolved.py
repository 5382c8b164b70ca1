# SPDX-License-Identifier: Apache-2.0
"""The resolved spec as JSON: units in names, defaults written out."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from specs import SMALL, changed, study_of, with_path

from quiclab.spec.resolved import resolved_json


def resolved(folder: pathlib.Path, text: str) -> dict[str, Any]:
    """Through JSON and back, as a reader meets it."""
    result: dict[str, Any] = json.loads(json.dumps(resolved_json(study_of(folder, text))))
    return result


def test_quantities_carry_their_unit_in_the_name(tmp_path: pathlib.Path) -> None:
    """Whole numbers; a queue's bytes are not called bytes_bytes."""
    study = resolved(tmp_path, with_path('loss = "1 %"\nqueue = ["64 KB", "20 ms"]\nduplicate = "0.5 %"'))
    down = study["paths"][0]["down"]
    assert down["rate_bit_per_s"] == 10_000_000
    assert down["delay_ns"] == 10_000_000
    assert down["loss"] == {"model": "bernoulli", "probability_pct": 1.0, "correlation": None}
    assert down["queue"] == {"bdp": None, "packets": None, "bytes": 64_000, "time_ns": 20_000_000}
    assert down["duplicate_pct"] == 0.5
    assert study["workloads"][0]["size_bytes"] == 100_000
    assert study["limits"]["trial_ns"] == 60 * 10**9


def test_defaults_are_written_out(tmp_path: pathlib.Path) -> None:
    """The congestion control of TCP is always named, also for h3."""
    study = resolved(tmp_path, SMALL)
    assert study["baseline"] == "h2"
    assert study["aa"] == {"workload": "100KB", "path": "plain", "blocks": 0}
    assert [arm["tcp"]["congestion_control"] for arm in study["arms"]] == ["reno", "reno"]
    assert study["arms"][1]["tcp"]["receive_buffer_bytes"] == [4096, 131072, 6291456]
    assert study["paths"][0]["up"]["edge_bit_per_s"] == 10**9


def test_a_schedule_and_a_command_are_kept(tmp_path: pathlib.Path) -> None:
    """Nested tables and arrays come through."""
    text = changed(
        ('delay = "10 ms"\n', 'delay = "10 ms"\nschedule = [{at = "1 s", loss = [1, 2]}]\n'),
        ('server = "caddy"', 'server = {argv = ["a", "{port}"], env = {X = "1"}}'),
    )
    study = resolved(tmp_path, text)
    change = study["paths"][0]["up"]["schedule"][0]
    assert change["at_ns"] == 10**9
    assert change["loss"] == {"model": "list", "packets": [1, 2]}
    assert study["arms"][0]["server"]["argv"] == ["a", "{port}"]
    assert study["arms"][0]["server"]["env"] == [["X", "1"]]


def test_two_specs_that_mean_the_same_resolve_the_same(tmp_path: pathlib.Path) -> None:
    """Units and defaults may be written or left out."""
    verbose = changed(
        ('"100 KB"', '"100000 B"'),
        ('rate = "10 Mbit/s"', 'rate = "10mbit"\nqueue = "1 bdp"\nedge = "1 Gbit/s"\ntitle = "plain"'),
        ("blocks = 4\n", 'blocks = 4\nbaseline = "h2"\nalpha = 0.05\naa = {blocks = 0}\n'),
    )
    assert resolved(tmp_path, verbose) == resolved(tmp_path, SMALL)
