# SPDX-License-Identifier: Apache-2.0
"""Older releases that are installed, named by `version` in a spec: real packets, and the version that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from stack_study import run_arms

from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.stacks.catalogue import RELEASE_ITEMS
from quiclab.model.study import Role
from quiclab.project import release_folder

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ROLES: tuple[Role, ...] = ("server", "client")
_EACH = [
    pytest.param(role, *item.name.split("@"), id=f"{item.name}-{role}")
    for item in RELEASE_ITEMS
    for role in _ROLES
    if any((each.name, each.role) == (item.name.split("@")[0], role) for each in ENDPOINTS)
]
_OTHER = {"server": 'client = "curl-cffi"', "client": 'server = "caddy"'}
"""The other end, which every quiclab has."""


@pytest.mark.parametrize(("role", "name", "version"), _EACH)
def test_a_release_carries_a_verified_transfer(tmp_path: Path, role: str, name: str, version: str) -> None:
    """Each trial tells which release ran, over HTTP/3, and over HTTP/2 where it speaks that, beside the current one."""
    if not (release_folder(name, version) / "bin").is_dir():
        pytest.skip("this release is not installed: docs/how-to/stacks.md says how")
    endpoint = next(each for each in ENDPOINTS if (each.name, each.role) == (name, role))
    arms = {
        f"{protocol}-then": f'protocol = "{protocol}"\n{_OTHER[role]}\n'
        f'{role} = {{ name = "{name}", version = "{version}" }}'
        for protocol in sorted(endpoint.protocols - {"h1"})
    }
    arms["h3-now"] = 'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"'
    found = run_arms(tmp_path, arms)
    assert {arm: (trial["status"], trial["reason"]) for arm, trial in found.items()} == dict.fromkeys(
        arms, ("verified", "")
    )
    for arm in arms.keys() - {"h3-now"}:
        assert found[arm]["programs"][role]["version_asked"] == version
        assert found[arm]["programs"][role]["version"].split(" ")[0] == version
    assert found["h3-then"]["proof"]["transport"] == "quic"
    assert found["h3-now"]["programs"]["server"]["version"] != "2.5.2"
