# SPDX-License-Identifier: Apache-2.0
"""At which addresses a probe asks."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from quiclab.cli.probe import add_options, read_order
from quiclab.model.errors import DecodeError, SpecError
from quiclab.store.layout import StudyDir
from quiclab.study.probe_order import Order, resolved_order


def _order(*urls: str) -> Order:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return read_order(parser.parse_args([*urls, "--insecure"]))


def test_names_are_resolved_once(tmp_path: Path) -> None:
    """The trials ask the address that the looks asked, whatever the name means by then."""
    study = StudyDir(tmp_path)
    (target,) = resolved_order(_order("https://localhost/"), study).targets
    assert target.address == "127.0.0.1"
    kept = {"targets": [{"name": "x", "url": target.url, "address": "192.0.2.7", "looks": {"h2": 9}}], "left_out": {}}
    study.resolved.write_text(json.dumps({"probe": kept}))
    assert [each.address for each in resolved_order(_order("https://localhost/"), study).targets] == ["192.0.2.7"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"targets": 5}, "probe.targets is no list"),
        ({"targets": [{"name": "x", "url": "https://localhost/", "looks": {}}]}, "targets[0].address is missing"),
        ({"left_out": None}, "probe.left_out is missing"),
        ({"looks": {"h2": "many"}}, "targets[0].looks.h2 is no whole number"),
        ({"looks": {}}, "targets[0].looks is empty"),
        ({"address": "192.0.2.7; drop"}, "targets[0].address is no IPv4 address"),
    ],
)
def test_looks_of_another_form_are_refused(tmp_path: Path, changed: dict[str, object], told: str) -> None:
    """A probe may come from a stranger, and its addresses go into nftables."""
    target = {"name": "x", "url": "https://localhost/", "address": "192.0.2.7", "looks": {"h2": 9}}
    kept = {"targets": [target | changed], "left_out": {}} | (
        changed if set(changed) <= {"targets", "left_out"} else {}
    )
    study = StudyDir(tmp_path)
    study.resolved.write_text(json.dumps({"probe": kept}))
    with pytest.raises(DecodeError, match=re.escape(told)):
        resolved_order(_order("https://localhost/"), study)


def test_a_probe_keeps_its_urls(tmp_path: Path) -> None:
    """Another URL, one that the looks left out, and a study that is no probe are told."""
    study = StudyDir(tmp_path)
    study.resolved.write_text(json.dumps({"probe": {"targets": [], "left_out": {"https://localhost/": "no HTTP/3"}}}))
    with pytest.raises(SpecError, match="none of these URLs can be compared"):
        resolved_order(_order("https://localhost/"), study)
    with pytest.raises(SpecError, match="not in the study"):
        resolved_order(_order("https://127.0.0.1/"), study)
    study.resolved.write_text("{}")
    with pytest.raises(SpecError, match="not a probe"):
        resolved_order(_order("https://localhost/"), study)
