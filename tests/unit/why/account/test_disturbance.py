# SPDX-License-Identifier: Apache-2.0
"""The laboratory's share of a trial's time: what is on the critical path, or a bound if that is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers
from trial_records import changed
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import Quic, Tcp, evidence_of_scene
from unit.why.account.test_processor import FULL, late_acknowledgment, look

from quiclab.evidence.metrics import Evidence
from quiclab.why.account import account_table, disturbance_of
from quiclab.why.account.disturbance import FEW_PROCESSES, Disturbance

MS = 1_000_000


def found(evidence: Evidence, **host: Any) -> Disturbance:
    """The disturbance of a trial in which client and server were watched."""
    cost = {role: {"most_processes": 1} for role in ("client", "server")}
    trial = changed(evidence.trial, host={"cost": cost} | host, time_ns={"transfer": 100 * MS})
    evidence = Evidence(evidence.tables, trial)
    disturbance = disturbance_of(evidence, account_table(evidence))
    assert disturbance is not None
    return disturbance


def written_late(evidence: Evidence, direction: str, arrival_ms: float, late_ms: float) -> Evidence:
    """The same trial, in which the model wanted one packet that much earlier than the link wrote it."""
    late = (pl.col("direction") == direction) & (pl.col("arrival_ns") == ns(arrival_ms))
    by_ns = pl.when(late).then(round(late_ms * MS)).otherwise(0)
    packets = evidence.tables["link_packets"].with_columns(
        (pl.col("due_ns") - by_ns).alias("due_ns"), (pl.col("lateness_ns") + by_ns).cast(pl.Int32).alias("lateness_ns")
    )
    return Evidence({**evidence.tables, "link_packets": packets}, evidence.trial)


def story(folder: Path, *looks: dict[str, Any]) -> Evidence:
    """A window of two packets, which come at 43 and are acknowledged at 93; the last packet comes at 113."""
    rows: dict[str, Any] = {"transport_metrics": FULL, "run_delays": [{"ran_ns": 0, **each} for each in looks]}
    return evidence_of_scene(late_acknowledgment().end(113, 4800), folder, **rows)


def test_a_quiet_machine_adds_nothing(tmp_path: Path) -> None:
    """The trial's time is that of its account."""
    disturbance = found(story(tmp_path))
    assert (disturbance.cost_ns, disturbance.most_ns, disturbance.by) == (0, 0, "account")
    assert disturbance.time_ns == 113 * MS


def test_a_late_packet_costs_what_waits_for_it(tmp_path: Path) -> None:
    """The acknowledgment that opens the window, which came 3 ms late; a short lateness counts as well."""
    assert found(written_late(story(tmp_path), "up", 93, 3)).parts["link"].cost_ns == 3 * MS
    assert found(written_late(story(tmp_path), "up", 93, 0.04)).parts["link"].cost_ns == 40_000


def test_a_late_packet_that_nobody_waits_for_costs_nothing(tmp_path: Path) -> None:
    """The first of the two packets that are acknowledged together is as late."""
    packets = story(tmp_path).tables["link_packets"].filter(direction="down")
    assert packets.height >= 4
    evidence = written_late(story(tmp_path), "down", 33, 0)
    first = (pl.col("direction") == "down") & (pl.col("arrival_ns") == ns(33))
    index = evidence.tables["link_packets"].filter(first)["index"].min()
    by_ns = pl.when(first & (pl.col("index") == index)).then(3 * MS).otherwise(0)
    moved = evidence.tables["link_packets"].with_columns(
        (pl.col("due_ns") - by_ns).alias("due_ns"), (pl.col("lateness_ns") + by_ns).cast(pl.Int32).alias("lateness_ns")
    )
    assert found(Evidence({**evidence.tables, "link_packets": moved}, evidence.trial)).parts["link"].cost_ns == 0


@pytest.mark.parametrize(
    ("role", "since", "until", "waited_ms", "cost_ms"),
    [("client", 60, 110, 30, 30), ("client", 60, 110, 45, 33), ("client", 120, 170, 45, 0), ("server", 45, 90, 40, 0)],
    ids=["all on the path", "more than the path", "after the end", "the other end"],
)
def test_waits_for_a_processor(
    role: str, since: float, until: float, waited_ms: float, cost_ms: float, tmp_path: Path
) -> None:
    """The client has something to acknowledge from 43 to 93: its waits in that time count, up to all of it."""
    disturbance = found(story(tmp_path, look(role, since, until, waited_ms)))
    assert disturbance.cost_ns == pytest.approx(cost_ms * MS)
    assert disturbance.most_ns == pytest.approx(cost_ms * MS)


def test_waits_beside_a_thread_of_the_same_program_are_its_own(tmp_path: Path) -> None:
    """Only the rest of them costs anything; a log that cannot tell has them all."""
    own = look("client", 60, 110, 30) | {"held_ns": 5 * MS, "longest_held_ns": 5 * MS}
    disturbance = found(story(tmp_path, own))
    assert (disturbance.cost_ns, disturbance.most_ns) == (5 * MS, 5 * MS)
    late = look("client", 60, 90, 3)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    assert found(repeated(tmp_path / "a", late | {"longest_held_ns": 2 * MS})).parts["repeats"].cost_ns == 0
    assert found(repeated(tmp_path / "b", late | {"longest_held_ns": 3 * MS})).parts["repeats"].cost_ns == 4 * MS


def test_a_bound_leaves_out_what_threads_took_from_each_other(tmp_path: Path) -> None:
    """As far as looks were taken at them: what no look has seen counts."""
    looks = [
        look("client", since, since + 50, 20) | {"held_ns": 1 * MS, "longest_held_ns": 1 * MS} for since in (0, 50)
    ]
    evidence = story(tmp_path, *looks)
    for longest_ms, cost_ms in ((40, 2), (50, 12), (1, 1)):
        cost = {"client": {"run_delay": {"longest_ns": longest_ms * MS, "longest_turns": 0}}}
        trial = changed(evidence.trial, host={"cost": cost}, time_ns={"transfer": 100 * MS})
        disturbance = disturbance_of(Evidence(evidence.tables, trial), account_table(evidence).clear())
        assert disturbance is not None
        assert disturbance.parts["client"].cost_ns == cost_ms * MS


def test_looks_before_the_transfer_tell_nothing_of_it(tmp_path: Path) -> None:
    """A program that starts waits for others, and is not measured yet."""
    looks = [
        look("client", since, since + 50, 20) | {"held_ns": 20 * MS, "longest_held_ns": 20 * MS} for since in (0, 50)
    ]
    looks.append(look("client", 100, 150, 30) | {"held_ns": 0, "longest_held_ns": 0})
    evidence = story(tmp_path, *looks)
    cost = {"client": {"run_delay": {"longest_ns": 30 * MS, "longest_turns": 0}}}
    for start_ms, cost_ms in ((0, 30), (60, 20), (100, 0)):
        begun = {"started_monotonic_ns": ns(0), "time_ns": {"link": start_ms * MS, "transfer": 100 * MS, "end": 5}}
        trial = changed(evidence.trial, **begun, host={"cost": cost})
        disturbance = disturbance_of(Evidence(evidence.tables, trial), account_table(evidence).clear())
        assert disturbance is not None
        assert disturbance.parts["client"].cost_ns == cost_ms * MS


def test_a_failure_is_not_excused_by_what_another_program_took(tmp_path: Path) -> None:
    """A client that runs on two processors for 50 ms has taken so much from the server; a trial that is fine counts all
    the same by what it was kept waiting."""
    busy = look("client", 0, 50, 5) | {"ran_ns": 100 * MS, "held_ns": 0, "longest_held_ns": 0}
    evidence = story(tmp_path, busy, look("server", 0, 50, 40) | {"held_ns": 40 * MS, "longest_held_ns": 40 * MS})
    for failure, client_ms, server_ms in ((None, 70, 60), ("exit code 3", 70, 10)):
        cost = {
            role: {"run_delay": {"longest_ns": ms * MS, "longest_turns": 0}}
            for role, ms in (("client", 75), ("server", 60))
        }
        trial = changed(evidence.trial, host={"cost": cost}, time_ns={"transfer": 900 * MS}, own_failure=failure)
        disturbance = disturbance_of(Evidence(evidence.tables, trial), account_table(evidence).clear())
        assert disturbance is not None
        assert disturbance.parts["client"].cost_ns == client_ms * MS
        assert disturbance.parts["server"].cost_ns == server_ms * MS


def test_short_stretches_have_the_share_of_all_work(tmp_path: Path) -> None:
    """Between 21 and 22 the client had its handshake to finish: of 10 ms of work and waits that is a tenth."""
    evidence = story(tmp_path, look("client", 0, 30, 4) | {"ran_ns": 6 * MS})
    part = found(evidence).parts["client"]
    assert 0 < part.cost_ns <= 0.4 * MS * 2
    assert part.most_ns > part.cost_ns


def test_a_kernel_acknowledges_without_its_program(tmp_path: Path) -> None:
    """A delayed acknowledgment of TCP is not the client's program's."""
    tcp = Tcp()
    tcp.down(52, 0)
    tcp.ack(102, 1)
    tcp.down(112, 1)
    rows: dict[str, Any] = {"run_delays": [look("client", 70, 105, 30) | {"ran_ns": 0}]}
    assert found(evidence_of_scene(tcp.end(122, 2), tmp_path, **rows)).cost_ns == 0


@pytest.mark.parametrize(
    "host",
    [
        {"slow_cpu": {"client": {}}},
        {"cost": {"client": {"most_processes": FEW_PROCESSES + 1}}},
    ],
)
def test_waits_that_are_not_the_laboratorys(host: dict[str, Any], tmp_path: Path) -> None:
    """The spec slows the program down, or the many processes of a browser wait for one another."""
    assert "client" not in found(story(tmp_path, look("client", 60, 110, 30)), **host).parts


def repeated(folder: Path, *looks: dict[str, Any]) -> Evidence:
    """A packet that came at 43 is sent again at 93 all the same, and served for 4 ms before the last one."""
    tale = Quic()
    tale.down(33, 0, service_ms=1)
    tale.up(43, writers.ack((0, 0)))
    tale.down(93, 0, service_ms=4)
    tale.down(93, 1200, fin=True, service_ms=4, way_ms=14)
    rows: dict[str, Any] = {"transport_metrics": FULL, "run_delays": [{"ran_ns": 0, **each} for each in looks]}
    return evidence_of_scene(tale.end(107, 2400), folder, **rows)


def test_what_is_sent_again_after_a_hold_up_is_the_laboratorys(tmp_path: Path) -> None:
    """A sender takes for lost what is acknowledged an eighth of a round trip late; without that it has its reasons."""
    assert found(repeated(tmp_path)).parts["repeats"].cost_ns == 0
    assert found(repeated(tmp_path, look("client", 60, 90, 2))).parts["repeats"].cost_ns == 0
    assert found(repeated(tmp_path, look("client", 60, 90, 3))).parts["repeats"].cost_ns == 4 * MS
    assert found(repeated(tmp_path, look("client", 10, 40, 3))).parts["repeats"].cost_ns == 0


def test_an_account_that_is_not_known_leaves_a_bound(tmp_path: Path) -> None:
    """One late packet a round trip and direction, and the longest waits without those that each turn has."""
    evidence = story(tmp_path)
    cost = {"client": {"run_delay": {"longest_ns": 3 * MS, "longest_turns": 100}}}
    trial = changed(evidence.trial, host={"cost": cost}, time_ns={"transfer": 100 * MS})
    late = written_late(Evidence(evidence.tables, trial), "up", 93, 3)
    disturbance = disturbance_of(late, account_table(late).clear())
    assert disturbance is not None
    assert disturbance.by == "bound"
    assert (disturbance.parts["client"].cost_ns, disturbance.parts["client"].most_ns) == (1 * MS, 3 * MS)
    assert 0 < disturbance.parts["link"].cost_ns <= disturbance.parts["link"].most_ns <= 3 * MS


def test_a_trial_without_a_time_has_none(tmp_path: Path) -> None:
    """Such as one that failed before it began."""
    evidence = story(tmp_path)
    assert disturbance_of(evidence, account_table(evidence).clear()) is None
