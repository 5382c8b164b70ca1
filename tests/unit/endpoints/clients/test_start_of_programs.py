# SPDX-License-Identifier: Apache-2.0
"""What a client program of ours loads before it starts its browser: every trial waits for that."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("program", ["_chromium_program", "_firefox_page_program", "_curl_cffi_program"])
def test_a_client_program_does_not_load_the_specs_model(program: str) -> None:
    """Nor the list of all endpoints."""
    code = (
        f"import sys, importlib; importlib.import_module('quiclab.endpoints.clients.{program}');"
        "print(*(name for name in sys.modules if name.startswith('quiclab')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert f"quiclab.endpoints.clients.{program}" in loaded
    assert not [name for name in loaded if name.startswith(("quiclab.spec", "quiclab.endpoints._registry"))]


def test_the_package_still_offers_all_it_names() -> None:
    """Each of `__all__`, and nothing by another name."""
    import quiclab.endpoints as endpoints

    assert all(getattr(endpoints, name) is not None for name in endpoints.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        endpoints.nothing  # noqa: B018 - the access is what is tested
