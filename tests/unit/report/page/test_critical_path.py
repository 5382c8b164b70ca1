# SPDX-License-Identifier: Apache-2.0
"""The critical path on a pair's page: sums, longest waits, the packets behind, and the links that lead there."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
from synthetic_logs import write_account, write_logs
from synthetic_study import Shape, write_study
from unit.report.words.test_account import waterfall

from quiclab.compare.study_tables import open_study
from quiclab.report.page.critical_path import critical_path
from quiclab.report.page.explanation import bar_links, linked
from quiclab.report.page.write import write_report
from quiclab.report.words.explanation_text import headline
from quiclab.why.account import UNIONS, Why
from quiclab.why.explanation import Explanation

ID = re.compile(r'\bid="([^"]+)"')


def study_with_accounts(folder: Path) -> Path:
    """One cell, two blocks, with packets and accounts."""
    study = write_study(folder, Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    for number, trial in enumerate(sorted((study / "trials").iterdir())):
        write_logs(study, trial.name, 200, number)
        write_account(study, trial.name, 40 + number)
    return study


def test_sums_and_waits_are_those_of_the_account(tmp_path: Path) -> None:
    """The busy link is no wait; every label and union is a place that a link can lead to."""
    study = open_study(study_with_accounts(tmp_path))
    path = critical_path(study, {"h2": study.table("account")["trial_id"][0]}, "ttlb_ms")
    assert path is not None
    assert [(sum_.heading, sum_.values) for sum_ in path.sums][2] == ("transmitting", ("200 ms",))
    assert {wait.heading for wait in path.waits} == {"QUIC handshake", "request", "slow start", "last delivery"}
    assert [float(wait.from_ms) for wait in path.waits][:3] == [0.0, 20.0, 30.0]
    places = {anchor for sum_ in path.sums for anchor in sum_.anchors} | set(path.absent)
    assert places == set(map(str, Why)) | set(map(str, UNIONS))
    (arm,) = path.data["arms"]
    assert arm["edges"]["points"] == 5
    assert arm["packets"]["points"] > 0


def test_every_number_of_a_reason_leads_to_a_place_on_the_page_of_the_median_trials(tmp_path: Path) -> None:
    """In the report that is written: no number without a link, no link without its place."""
    study = study_with_accounts(tmp_path)
    report = write_report(study).read_text()
    section = report.partition('<section id="because">')[2].partition("The waits of each cell")[0]
    links = re.findall(r'href="([^"#]+)#([^"]+)"', section)
    assert links
    for file, place in links:
        assert place in set(ID.findall((study / file).read_text()))
        assert file.endswith("median.html")
    told = "".join(re.findall(r'<p class="lead">.*?</p>', section))
    assert told
    assert not re.search(r"\d (ms|s|MB)\b", re.sub(r"<a .*?</a>", "", told))


def test_numbers_lead_to_the_reason_in_whose_clause_they_stand() -> None:
    """The whole, and what is of no reason, leads to the timeline; without a page there is no link."""
    found = waterfall(55.3, link_busy=74.0, set_up=-18.7, request=0.2)
    explained = Explanation(found, (), 0.05)
    told = linked(headline(explained), explained.parts, "report/pairs/1/median.html")
    places = re.findall(r'#([^"]+)">([^<]+)<', told)
    assert places == [
        ("figure-timeline", "55.3 ms"), ("figure-timeline", "+54.8 … +55.8 ms"), ("why-link_busy", "+74.0 ms"),
        ("why-set_up", "−18.7 ms"), ("figure-timeline", "74.0 ms"), ("figure-timeline", "18.7 ms"),
    ]  # fmt: skip
    assert re.sub(r"<[^>]+>", "", told) == headline(explained)
    assert "<a" not in linked("<b>1 ms", [], None)
    assert bar_links(found, "x")["places"]


def test_packets_keep_their_way(tmp_path: Path) -> None:
    """Their number in the link's log, and what never arrived as lost, as the log has it."""
    study = open_study(study_with_accounts(tmp_path))
    trial = study.table("account")["trial_id"][0]
    log = study.trial_table("link_packets", trial)
    path = critical_path(study, {"h2": trial}, "ttlb_ms")
    assert log is not None
    assert path is not None
    edges = study.trial_table("account", trial)
    assert edges is not None
    within = log.filter(pl.col("arrival_ns").is_between(edges["from_ns"][0], edges["until_ns"][-1]))
    assert path.data["arms"][0]["packets"]["points"] == within.height
