# SPDX-License-Identifier: Apache-2.0
"""What --dask takes, and what is said where Dask is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quiclab.cli.dask import check_options
from quiclab.cli.parser import Parser
from quiclab.cli.run import add_parser
from quiclab.model.errors import HostError, SpecError
from quiclab.study.dask.cluster import connected
from quiclab.study.dask.members import _as_file_name


def _check(*words: str) -> None:
    top = Parser()
    add_parser(top.add_subparsers())
    check_options(top.parse_args(["run", "spec.toml", *words]))


@pytest.mark.parametrize("where", ["local:1", "local:64", "tls://host:8786", "tls://[::1]:8786"])
def test_a_cluster(where: str) -> None:
    """Workers here, or a scheduler elsewhere."""
    _check("--dask", where)


def test_a_cluster_without_tls_is_used_only_where_that_is_said() -> None:
    """Everybody who reaches it can run programs as the user."""
    with pytest.raises(SpecError, match="everybody who reaches") as told:
        _check("--dask", "tcp://host:8786")
    assert "--without-tls" in told.value.hint
    _check("--dask", "tcp://host:8786", "--without-tls")


@pytest.mark.parametrize("where", ["local:2", "tls://host:8786"])
def test_a_cluster_with_tls_is_not_used_without(where: str) -> None:
    """The word would be silently without effect."""
    with pytest.raises(SpecError, match="which has TLS"):
        _check("--dask", where, "--without-tls")


def test_tls_without_certificates(tmp_path: Path) -> None:
    """The error says where Dask takes them from; nothing is connected."""
    with (
        pytest.raises(HostError, match="needs certificates") as told,
        connected("tls://127.0.0.1:1", tmp_path),
    ):
        pass
    assert "ca-file" in told.value.hint


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "x" * 300, "ü" * 300, "a\nb\x1b]0;"])
def test_any_machine_has_a_file_name(tmp_path: Path, name: str) -> None:
    """A worker says its machine's name, which may be anything."""
    found = _as_file_name(name)
    (tmp_path / f"{found}999.json").write_text("")
    assert [file.name for file in tmp_path.iterdir()] == [f"{found}999.json"]


@pytest.mark.parametrize("where", ["local", "local:0", "local:65", "local:-1", "host:8786", "tls://host", "http://a:1"])
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
