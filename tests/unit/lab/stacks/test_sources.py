# SPDX-License-Identifier: Apache-2.0
"""Which of a machine's apt sources are Debian's own."""

from __future__ import annotations

import pytest

from quiclab.lab.stacks import sources
from quiclab.lab.stacks.sources import Source, _looks_like_debian, _published_by_debian
from quiclab.model.errors import HostError


def _row(address: str, release: str, origin: str = "", **changed: str) -> dict[str, str]:
    row = {"CREATED_BY": "Packages", "COMPONENT": "main", "ORIGIN": origin, "CODENAME": release, "RELEASE": release}
    return {**row, "REPO_URI": address, **changed}


def test_the_publisher_tells_debian_from_others_at_any_address() -> None:
    """A mirror may have any address, and others use the same names of releases."""
    rows = [
        _row("http://mirror.example/proxy/one/", "bookworm", "Debian"),
        _row("http://mirror.example/proxy/two", "bookworm-security", "Debian"),
        _row("http://mirror.example/proxy/one/", "bookworm-backports", "Debian"),
        _row("https://packages.example/debian", "bookworm", "Somebody"),
        _row("http://mirror.example/proxy/one", "bookworm", "Debian", COMPONENT="contrib"),
        _row("http://mirror.example/proxy/one", "bookworm", "Debian", CREATED_BY="Translations"),
        _row("http://mirror.example/proxy/one", "stable", "Debian", CODENAME="bookworm"),
    ]
    assert _published_by_debian(rows, "bookworm") == (
        Source("http://mirror.example/proxy/one", "bookworm"),
        Source("http://mirror.example/proxy/two", "bookworm-security"),
        Source("http://mirror.example/proxy/one", "stable"),
    )


def test_before_apt_has_read_anything_the_address_tells_debian() -> None:
    """As in a container whose lists were removed."""
    rows = [
        _row("http://mirror.example/debian/", "bookworm"),
        _row("http://mirror.example/debian-security", "bookworm-security"),
        _row("https://packages.example/debian/12/prod", "bookworm"),
        _row("http://mirror.example/debian", "trixie"),
    ]
    assert _looks_like_debian(rows, "bookworm") == (
        Source("http://mirror.example/debian", "bookworm"),
        Source("http://mirror.example/debian-security", "bookworm-security"),
    )


def test_the_mirror_is_chosen_or_the_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is neither, the user is told which variable to set; none is built in."""
    monkeypatch.delenv("QUICLAB_DEBIAN_MIRROR", raising=False)
    own = (Source("http://mirror.example/debian-security", "bookworm-security"), Source("http://mirror.example/d", "x"))
    monkeypatch.setattr(sources, "own_sources", lambda: own)
    assert sources.mirror() == "http://mirror.example/d"
    monkeypatch.setattr(sources, "own_sources", lambda: ())
    with pytest.raises(HostError) as caught:
        sources.mirror()
    assert "QUICLAB_DEBIAN_MIRROR" in caught.value.hint
    monkeypatch.setenv("QUICLAB_DEBIAN_MIRROR", "http://mirror.example/other/")
    assert sources.mirror() == "http://mirror.example/other"
