# SPDX-License-Identifier: Apache-2.0
"""The example of docs/how-to/own-programs.md for an image's root file system, with a real server in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from stack_study import need, run_arms

from quiclab.endpoints._stacks import find_program
from quiclab.testbed.link import SERVER_ADDRESSES

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "own-programs.md"


def _image(folder: Path) -> Path:
    """A root file system that holds nothing but a statically linked server and its configuration."""
    program = find_program("quiclab-quic-go", None)
    assert program is not None
    for name in ("dev", "proc", "tmp"):
        (folder / name).mkdir(parents=True)
    shutil.copy(program.argv[0], folder / "server")
    job = {
        "listen": f"{SERVER_ADDRESSES[4]}:443",
        "protocols": ["h2", "h3"],
        "root": "/tmp/root",
        "certificate": "/tmp/cert.pem",
        "key": "/tmp/key.pem",
        "qlog_dir": "/tmp/qlog",
    }
    (folder / "job.json").write_text(json.dumps(job))
    return folder


def _documented(image: Path, ready: str) -> str:
    """The guide's `server = …`, with the arguments that this server takes instead of those of the example's."""
    found = re.search(r'server = \{ argv = \["bwrap".*? \}\n', GUIDE.read_text(), re.DOTALL)
    assert found is not None
    text = re.sub(r'"/server", .*?\]', '"/server", "server", "/job.json"]', found[0], flags=re.DOTALL)
    return text.replace("/opt/images/mine", str(image)).replace('ready = "udp"', f'ready = "{ready}"')


def test_a_server_in_the_root_file_system_of_an_image(tmp_path: Path) -> None:
    """Over both protocols: the program's qlog is kept, and what it cost is counted as the server's."""
    need(("server", "quic-go"))
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        pytest.skip("bwrap is missing: apt-get install -y bubblewrap")
    tried = subprocess.run([bwrap, "--unshare-user", "--dev-bind", "/", "/", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"bwrap cannot run here: {tried.stderr.decode().strip()}")
    image = _image(tmp_path / "image")
    arms = {
        protocol: f'protocol = "{protocol}"\nclient = "curl-cffi"\n{_documented(image, ready)}'
        for protocol, ready in (("h2", "tcp"), ("h3", "udp"))
    }
    found = run_arms(tmp_path, arms)
    assert {name: trial["status"] for name, trial in found.items()} == {"h2": "verified", "h3": "verified"}
    (qlog,) = [each["path"] for each in found["h3"]["artefacts"] if each["path"].endswith("_server.sqlog")]
    assert qlog.startswith("raw/server-qlog/")
    for trial in found.values():
        # bwrap itself needs some 2 MB.
        assert trial["host"]["cost"]["server"]["largest_process_bytes"] > 5_000_000
