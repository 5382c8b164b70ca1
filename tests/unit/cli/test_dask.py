# SPDX-License-Identifier: Apache-2.0
"""What --dask takes, and what is said where Dask is not installed."""

from __future__ import annotations

import sys

import pytest

from quiclab.cli.dask import check_options
from quiclab.cli.parser import Parser
from quiclab.cli.run import add_parser
from quiclab.errors import HostError, SpecError


def _check(*words: str) -> None:
    top = Parser()
    add_parser(top.add_subparsers())
    check_options(top.parse_args(["run", "spec.toml", *words]))


@pytest.mark.parametrize("where", ["local:1", "local:64", "tcp://host:8786", "tls://[::1]:8786"])
def test_a_cluster(where: str) -> None:
    """Workers here, or a scheduler elsewhere."""
    _check("--dask", where)


@pytest.mark.parametrize("where", ["local", "local:0", "local:65", "local:-1", "host:8786", "tcp://host", "http://a:1"])
def test_what_is_no_cluster_is_told(where: str) -> None:
    """With the forms that there are."""
    with pytest.raises(SpecError, match=f"--dask {where}") as told:
        _check("--dask", where)
    assert told.value.hint


@pytest.mark.parametrize("words", [("--jobs", "auto"), ("--jobs", "2"), ("--until", "5%")])
def test_options_that_do_not_go_with_it(words: tuple[str, str]) -> None:
    """They would be silently without effect."""
    with pytest.raises(SpecError, match=words[0]):
        _check("--dask", "local:2", *words)


def test_where_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint is the command that adds it."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(HostError, match="needs Dask") as told:
        _check("--dask", "local:2")
    assert told.value.hint.startswith("tools/setup.sh dev, where quiclab is a checkout")
