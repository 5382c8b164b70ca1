# SPDX-License-Identifier: Apache-2.0
"""What the arms are and where they differ, from facts that programs tell."""

from __future__ import annotations

import dataclasses
import pathlib

from specs import changed, study_of

from quiclab.plan.arms import arms_summary

FACTS = {
    "h2": {"congestion_control": "reno", "initial_window": "32 packets", "packet_size": "1448 bytes"},
    "h3": {"congestion_control": "New Reno with beta 0.7", "initial_window": "32 packets", "receive_window": "1 GB"},
}


def test_what_differs_is_told_for_every_arm(tmp_path: pathlib.Path) -> None:
    """Equal points are named once, different ones with all values, and silence is told as such."""
    summary = arms_summary(study_of(tmp_path), FACTS)
    assert summary["differences"] == [
        "congestion control: h2 reno, h3 New Reno with beta 0.7",
        "packet size: h2 1448 bytes, h3 unknown",
        "receive window: h2 unknown, h3 1 GB",
    ]
    assert summary["text"].startswith(
        "h2 (HTTP/2) against h3 (HTTP/3). Equal: client curl-cffi, server caddy, certificate ecdsa-p256, initial"
    )
    assert "congestion control (reno / New Reno with beta 0.7)" in summary["text"]
    assert "\n" not in summary["text"]


def test_the_baseline_comes_first(tmp_path: pathlib.Path) -> None:
    """In the text and in every list of values."""
    study = study_of(tmp_path, changed(("blocks = 4\n", 'blocks = 4\nbaseline = "h3"\n')))
    summary = arms_summary(study, FACTS)
    assert summary["text"].startswith("h3 (HTTP/3) against h2 (HTTP/2)")
    assert "congestion control: h3 New Reno with beta 0.7, h2 reno" in summary["differences"]


def test_arms_are_held_against_their_own_baselines(tmp_path: pathlib.Path) -> None:
    """A sentence for each baseline: what differs between servers is no difference of arms that are compared. A point
    in which some differ has the values of all."""
    servers = ('server = "caddy"', 'server = ["caddy", "nginx"]')
    paced = {"h2-caddy": "off", "h3-caddy": "on", "h2-nginx": "off", "h3-nginx": "off"}
    facts = {arm: {"pacing": value} for arm, value in paced.items()}
    turned = ('server = "caddy"', 'server = ["nginx", "caddy"]')
    summary = arms_summary(study_of(tmp_path, changed(turned, servers)), facts)
    assert "h2-caddy (HTTP/2) against h3-caddy (HTTP/3). Equal: client curl-cffi, server caddy" in summary["text"]
    assert "h2-nginx (HTTP/2) against h3-nginx (HTTP/3). Equal: client curl-cffi, server nginx" in summary["text"]
    assert summary["differences"] == ["pacing: h2-caddy off, h3-caddy on, h2-nginx off, h3-nginx off"]


def test_different_programs_are_a_difference(tmp_path: pathlib.Path) -> None:
    """H2 and H3 from different programs are never silently compared; one's own goes by its command."""
    study = study_of(tmp_path, changed(('server = "caddy"', 'server = {argv = ["/opt/my-server", "{port}"]}')))
    assert "server: h2 /opt/my-server, h3 caddy" in arms_summary(study, {})["differences"]


def test_an_arm_without_a_proxy_has_none(tmp_path: pathlib.Path) -> None:
    """Nothing is unknown about it; what the proxy's program does not tell is."""
    study = study_of(tmp_path)
    proxied = dataclasses.replace(study.arms[0], name="px", proxy=study.arms[0].server)
    told = arms_summary(dataclasses.replace(study, arms=(study.arms[0], proxied)), {"h2": {"pacing": "none"}})
    assert "proxy: h2 none, px caddy" in told["differences"]
    assert "origin protocol: h2 none, px HTTP/1.1" in told["differences"]
    assert "pacing: h2 none, px unknown" in told["differences"]


def test_tcp_settings_are_compared_between_arms_that_use_tcp(tmp_path: pathlib.Path) -> None:
    """An h3 arm has no say in SACK."""
    text = changed(
        ('protocol = "h3"\n', 'protocol = "h2"\ntcp = {congestion_control = "reno", sack = false}\n'),
    )
    assert arms_summary(study_of(tmp_path, text), {})["differences"] == ["TCP sack: h2 on, h3 off"]
    assert arms_summary(study_of(tmp_path), {})["differences"] == []


def test_arms_without_a_known_difference_say_so(tmp_path: pathlib.Path) -> None:
    """An A/A study, for one."""
    study = study_of(tmp_path)
    twins = (study.arms[0], dataclasses.replace(study.arms[0], name="again"))
    summary = arms_summary(dataclasses.replace(study, arms=twins), {})
    assert summary["text"].endswith("They differ in nothing that is known.")
