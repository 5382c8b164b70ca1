# SPDX-License-Identifier: Apache-2.0
"""A whole study: real Caddy, real libcurl, real packets, from the spec to the report."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars
import pytest
from account_facts import facts
from by_night import by_night
from coarsening import Compared, in_lines, levels_of_study
from small_study import lab_processes, quiclab, trials, write_spec

from quiclab.why.account.levels import Level

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study of two blocks with loss."""
    folder = tmp_path_factory.mktemp("study")
    spec = write_spec(folder, blocks=2, size="100 KB", path='loss = "1 %"')
    done = quiclab("run", spec, "--out", folder / "study", "--events", folder / "events.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "study" / "stdout.txt").write_text(done.stdout)
    return folder / "study"


def test_every_trial_is_verified_and_proves_what_it_ran(study: Path) -> None:
    """Protocol, TLS, QUIC version and the congestion control of the server's own socket are in trial.json."""
    found = trials(study)
    assert len(found) == 2 * 2 + 2 * 2
    for trial in found:
        assert trial["status"] == "verified", trial["reason"]
        proof = trial["proof"]
        h3 = trial["row"]["arm_name"] == "h3"
        assert proof["http_version"] == ("HTTP/3" if h3 else "HTTP/2")
        assert proof["transport"] == ("quic" if h3 else "tcp")
        assert proof["tls_version"] == "TLS 1.3"
        assert proof["tls_group"] not in ("unproven", "")
        assert proof["quic_version"] == ("v1" if h3 else "unproven")
        assert proof["tcp_congestion_control"] == ("unproven" if h3 else "reno")


@pytest.mark.parametrize(
    "lost",
    [(), *by_night((("tables", "metrics.parquet"),), (("tables/trials.parquet",),))],
    ids=["some", "all", "one"],
)
def test_a_verb_makes_the_tables_that_it_needs(study: Path, tmp_path: Path, lost: tuple[str, ...]) -> None:
    """After `run --no-report` there are none, or those of the trials that an earlier report has."""
    copy = shutil.copytree(study, tmp_path / "study")
    for name in lost:
        place = copy / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    if not lost:
        table = copy / "tables" / "trials.parquet"
        polars.read_parquet(table)[:-1].write_parquet(table)
    asked = quiclab("sql", copy, "SELECT count(*) FROM trials", "--format", "csv")
    assert (asked.returncode, asked.stdout.split()[-1]) == (0, "8"), asked.stderr
    assert "quiclab: making tables of" in asked.stderr
    for words in (("explain", copy), ("sql", copy)):
        again = quiclab(*words)
        assert again.returncode == 0, again.stderr
        assert "making tables" not in again.stderr


def test_events_tell_of_each_trial_as_it_happens(study: Path) -> None:
    """Between the first line and the last each trial begins before it ends, and ends in its block."""
    lines = [json.loads(line) for line in (study.parent / "events.jsonl").read_text().splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["began", "finished"]
    assert (lines[0]["trials"], lines[0]["directory"]) == (8, str(study))
    assert [line["when_utc"] for line in lines] == sorted(line["when_utc"] for line in lines)
    told = [(line["event"], line["trial_id"]) for line in lines if line["event"] in ("running", "ended")]
    assert [event for event, _ in told] == ["running", "ended"] * (len(told) // 2)
    verified = [line["trial_id"] for line in lines if line.get("status") == "verified"]
    assert {trial["row"]["trial_id"] for trial in trials(study)} <= set(verified)
    assert sum(line["event"] == "block_over" for line in lines) >= 4
    assert lines[-1]["trials"]["verified"] == 8


def test_trials_of_a_block_share_seed_and_differ_in_arm(study: Path) -> None:
    """The unit is the block: same seed, one trial of each arm, back to back."""
    blocks: dict[str, list[dict[str, object]]] = {}
    for trial in trials(study):
        blocks.setdefault(trial["row"]["block_id"], []).append(trial["row"])
    for rows in blocks.values():
        assert len({row["seed"] for row in rows}) == 1
        assert len({row["arm"] for row in rows}) == 2
        assert abs(int(str(rows[0]["position"])) - int(str(rows[1]["position"]))) == 1


def test_the_link_kept_its_books(study: Path) -> None:
    """sent + duplicated = delivered + dropped + still inside, and nothing was lost outside the model."""
    for trial in trials(study):
        assert sum(trial["link"]["outside_drops"].values()) == 0
        for side in ("up", "down"):
            books = trial["link"][side]
            given = books["delivered"] + sum(books["dropped"].values()) + books["inside_at_end"]
            assert books["packets_in"] + books["duplicated"] == given


def test_every_nanosecond_has_its_labels(study: Path) -> None:
    """The edges of each trial's account follow each other and add up to its time to the last byte."""
    metrics = polars.read_parquet(study / "metrics.parquet").filter(polars.col("name") == "ttlb_ms")
    times = dict(metrics.select("trial_id", "value").iter_rows())
    accounts = list((study / "tables" / "account").glob("*.parquet"))
    assert {file.stem for file in accounts} == set(times)
    for file in accounts:
        stretches = polars.read_parquet(file)
        assert stretches["until_ns"][:-1].to_list() == stretches["from_ns"][1:].to_list()
        assert (stretches["until_ns"] >= stretches["from_ns"]).all()
        total_ms = (stretches["until_ns"][-1] - stretches["from_ns"][0]) / 1e6
        assert total_ms == pytest.approx(times[file.stem], abs=1e-6)
        served = stretches.filter(why="link_busy")
        served_ns = (served["until_ns"] - served["from_ns"]).sum()
        # 100 KB at 20 Mbit/s; headers, and what is lost behind the bottleneck, make it more.
        assert served_ns > 100_000 * 8 / 20e6 * 1e9
        # The link's own log has served for as long, between the first packet of the response and the last.
        log = polars.read_parquet(study / "tables" / "link_packets" / file.name).filter(direction="down")
        within = log.filter(
            polars.col("left_ns") > served["from_ns"][0], polars.col("left_ns") <= served["until_ns"][-1]
        )
        assert within["service_ns"].sum() == served_ns
        totals = polars.read_parquet(study / "tables" / "account_totals" / file.name)
        assert totals["total_ns"].sum() == stretches["until_ns"][-1] - stretches["from_ns"][0]


def test_what_is_inferred_of_tcp_stays_within_the_kernels_clocks(study: Path) -> None:
    """Time charged to the receive window or the send buffer is time that the kernel counted so, rounded to jiffies."""
    for file in (study / "tables" / "tcp_info").glob("*.parquet"):
        clocks = polars.read_parquet(file)
        account = polars.read_parquet(study / "tables" / "account" / file.name)
        for why, clock in (("receive_window", "rwnd_limited_us"), ("send_buffer", "sndbuf_limited_us")):
            inferred = account.filter(why=why)
            inferred_ms = (inferred["until_ns"] - inferred["from_ns"]).sum() / 1e6
            counted_ms = (clocks[clock].max() or 0) / 1e3  # type: ignore[operator]
            assert inferred_ms <= 2 * counted_ms + 8, (file.stem, why)


def test_what_must_be_true_of_every_account_is(study: Path) -> None:
    """Service and idle time, cause and effect, the kernel's clocks and windows, the least time of the path."""
    found = facts(study)
    assert found.trials == len(list((study / "tables" / "account").glob("*.parquet")))
    assert found.holds, "\n".join(found.lines())


def test_explain_names_reasons_and_what_decided_them(study: Path) -> None:
    """Reasons, physical side and the tables behind them, in the terminal."""
    told = quiclab("explain", study, "--all")
    assert told.returncode == 0, told.stderr
    assert "transmitting" in told.stdout
    assert "propagation down" in told.stdout
    assert "link_packets" in told.stdout


def test_metrics_are_there_and_plausible(study: Path) -> None:
    """Time to last byte is never below what the rate allows, and the path was as asked."""
    metrics = polars.read_parquet(study / "metrics.parquet")
    ttlb = metrics.filter(polars.col("name") == "ttlb_ms")["value"]
    assert ttlb.null_count() == 0
    least = 100_000 * 8 / 20e6 * 1000 + 2 * 10
    assert float(ttlb.min()) > least  # type: ignore[arg-type]
    rtt = metrics.filter(polars.col("name") == "path_rtt_min_ms")["value"]
    assert rtt.min() >= 10  # type: ignore[operator]
    assert rtt.min() < 11  # type: ignore[operator]


def test_the_table_says_the_arms_first(study: Path) -> None:
    """No verdict appears without what the arms are."""
    text = (study / "stdout.txt").read_text()
    assert "HTTP/2" in text
    assert text.index("reno") < text.index("plain")


def test_the_report_is_one_offline_file(study: Path) -> None:
    """No address outside the file is asked for."""
    page = (study / "report.html").read_text()
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=.https?:", page)
    assert list((study / "report" / "data").glob("*.csv"))


def test_tables_that_are_gone_are_made_again(study: Path, tmp_path: Path) -> None:
    """Everything that is derived comes from the logs."""
    copy = tmp_path / "study"
    shutil.copytree(study, copy)
    shutil.rmtree(copy / "tables")
    (copy / "metrics.parquet").unlink()
    done = quiclab("report", copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert polars.read_parquet(copy / "metrics.parquet").equals(polars.read_parquet(study / "metrics.parquet"))


def test_running_again_repeats_nothing(study: Path) -> None:
    """A finished study has nothing left to do, and its trials stay as they are."""
    before = {trial["trial_id"]: trial["started_utc"] for trial in trials(study)}
    done = quiclab("run", study, "--no-report")
    assert done.returncode == 0, done.stderr
    assert {trial["trial_id"]: trial["started_utc"] for trial in trials(study)} == before


def test_a_study_can_grow(study: Path) -> None:
    """More blocks in the spec add trials and keep the old ones."""
    before = {trial["trial_id"] for trial in trials(study)}
    spec = study / "spec.toml"
    spec.write_text(spec.read_text().replace("blocks = 2", "blocks = 3"))
    done = quiclab("run", study, "--no-report")
    assert done.returncode == 0, done.stderr
    after = {trial["trial_id"] for trial in trials(study)}
    assert before < after
    assert len(after - before) == 2


def test_nothing_is_left_behind(study: Path) -> None:
    """No process, no folder in memory."""
    assert lab_processes(study) == []
    assert not (study / ".work").exists()
    assert json.loads((study / "resolved.json").read_text())["arms_summary"]["text"]


def test_lower_levels_of_evidence_agree_with_the_full_account(study: Path) -> None:
    """Summed up to what a capture or a log alone can tell, the account is the one made from that alone."""
    lines, beyond = in_lines(found := levels_of_study(study))
    assert not beyond, "\n".join(lines)
    compared = [one for each in found.values() for one in each if isinstance(one, Compared)]
    assert {one.level for one in compared} >= {Level.E1, Level.E2, Level.E3}, lines
    assert sum(one.level is Level.E1 and one.part is None for one in compared) == len(found), lines
