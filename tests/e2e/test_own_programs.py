# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/how-to/own-programs.md: clients as they are printed there, and a real server in an image's root
file system."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from plain_user import open_folder
from small_study import quiclab
from stack_study import need, run_arms

from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.testbed.link import SERVER_ADDRESSES

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
    (qlog,) = [each["path"] for each in found["h3"]["artefacts"] if "_server.sqlog" in each["path"]]
    assert qlog.startswith("raw/server-qlog/")
    for trial in found.values():
        # bwrap itself needs some 2 MB.
        assert trial["host"]["cost"]["server"]["largest_process_bytes"] > 5_000_000


def _example(name: str) -> str:
    """The guide's arm of that name as it is printed, without its heading and name, which `run_arms` adds."""
    found = re.search(rf'```toml\n\[\[arm\]\]\nname = "{name}"\n(.*?)```', GUIDE.read_text(), re.DOTALL)
    assert found is not None, name
    return found[1]


def _metrics(study: Path, trial_id: str) -> dict[str, tuple[float | None, str | None]]:
    rows = pl.read_parquet(study / "metrics.parquet").filter(trial_id=trial_id)
    return {row["name"]: (row["value"], row["note"]) for row in rows.iter_rows(named=True)}


@pytest.mark.nightly
def test_the_clients_of_the_guide_run_as_printed(tmp_path: Path) -> None:
    """curl without an account, and a client of some lines of Python: verified, with all times from their packets.

    Of curl the guide also says what becomes of it without keys, and of answers that are wrong.
    """
    for program in ("/usr/bin/curl", "/usr/bin/python3"):
        if not Path(program).exists():
            pytest.skip(f"{program} is missing")
    client = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert client is not None
    with open_folder() as folder:
        (folder / "client.py").write_text(client[1])
        curl, python = _example("own-curl"), _example("own-python").replace("/opt/mine", str(folder))
        without_keys = curl.replace(', env = { SSLKEYLOGFILE = "{keylog}" }', "")
        nothing_kept = without_keys.replace("{work}/body", "/dev/null")
        found = run_arms(
            tmp_path,
            {
                "curl": curl,
                "python": python,
                "python-no-keys": python.replace("{keylog}", "{work}/keys"),
                "body": without_keys,
                "nothing": nothing_kept,
                "404": nothing_kept.replace('"--fail", ', "").replace('"{url}"', '"{url}-not-there"'),
                "part": nothing_kept.replace('"--http2"', '"--http2", "--range", "0-99"'),
                "most": without_keys.replace('"--http2"', '"--http2", "--range", "0-99998"'),
                "http1": nothing_kept.replace("--http2", "--http1.1"),
            },
        )
    told = {name: (trial["status"], trial["reason"].partition(":")[0]) for name, trial in found.items()}
    assert told == {
        "curl": ("verified", ""),
        "python": ("verified", ""),
        "python-no-keys": ("verified", ""),
        "body": ("unproven", "nothing shows the HTTP version"),
        "nothing": ("unproven", "nothing shows what the client got"),
        "404": ("failed", told["404"][1]),
        "part": ("failed", told["part"][1]),
        "most": ("failed", "the body has 99999 bytes instead of 100000"),
        "http1": ("failed", "asked for h2, but the client's ClientHello offers http/1.1 alone"),
    }
    assert told["404"][1].startswith("asked for 100000 bytes over TCP, but it carried only ")
    assert told["part"][1].startswith("asked for 100000 bytes over TCP, but it carried only ")
    done = quiclab("report", tmp_path / "study")
    assert done.returncode == 0, done.stderr
    for name in ("curl", "python"):
        metrics = _metrics(tmp_path / "study", found[name]["trial_id"])
        setup, first, last = (metrics[each][0] for each in ("setup_ms", "ttfb_ms", "ttlb_ms"))
        assert setup is not None
        assert first is not None
        assert last is not None
        assert 0 < setup < first < last, name
        assert metrics["ttlb_ms"][1] is None, "the packets tell it"
    by_account = _metrics(tmp_path / "study", found["python-no-keys"]["trial_id"])["ttlb_ms"]
    assert by_account[0] is not None
    assert "account" in str(by_account[1])
