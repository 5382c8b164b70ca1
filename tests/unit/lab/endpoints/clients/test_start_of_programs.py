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
        f"import sys, importlib; importlib.import_module('quiclab.lab.endpoints.clients.{program}');"
        "print(*(name for name in sys.modules if name.startswith('quiclab')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert f"quiclab.lab.endpoints.clients.{program}" in loaded
    assert not [name for name in loaded if name.startswith(("quiclab.spec", "quiclab.lab.endpoints._registry"))]


def test_curl_cffi_loads_no_tls_of_python_for_a_default_that_it_does_not_need() -> None:
    """Whatever asks these modules for something still gets the real ones."""
    code = (
        "import sys; from quiclab.lab.endpoints.clients import _curl_cffi_program; import curl_cffi.curl, os;"
        "loaded = [name for name in ('_ssl', 'certifi.core') if name in sys.modules];"
        "import certifi, ssl;"
        "print(loaded, certifi.where(), ssl.create_default_context, os.environ.get('SSL_CERT_FILE'))"
    )
    environment = {"PATH": "", "SSL_CERT_FILE": "/its/own"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("[] /")
    assert done.stdout.split()[1].endswith("cacert.pem")
    assert "create_default_context" in done.stdout
    assert done.stdout.split()[-1] == "/its/own"


def test_the_package_still_offers_all_it_names() -> None:
    """Each of `__all__`, and nothing by another name."""
    import quiclab.lab.endpoints as endpoints

    assert all(getattr(endpoints, name) is not None for name in endpoints.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        endpoints.nothing  # noqa: B018 - the access is what is tested
