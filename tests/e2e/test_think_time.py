# SPDX-License-Identifier: Apache-2.0
"""Real servers that think before they answer: the account gives them the time, whatever is acknowledged meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from accounts import account_of
from by_night import by_night
from small_study import main_only, quiclab, trials
from stack_study import need, run_arms, spec_text

from quiclab.lab.endpoints._stacks import find_program

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_TRIP_MS = 40.0
_SHARES = (0.5, 1.0, 1.5, 3.0)
"""Think times in round trips."""
_THINKING_CADDY = """\
#!{python} -I
# Caddy that thinks before it answers: it has no handler that waits, so a proxy without an upstream looks for one again
# after a while, and gives up, whereupon the file is served.
import json, os, sys
file = sys.argv[sys.argv.index("--config") + 1] if "--config" in sys.argv else None
if file:
    config = json.loads(open(file).read())
    for site in config["apps"]["http"]["servers"].values():
        for route in site["routes"]:
            if route["handle"][-1]["handler"] == "file_server":
                served = dict(route["handle"][-1], status_code="200")
                balancing = {{"retries": 1, "try_interval": {think_ns}}}
                waits = {{"handler": "reverse_proxy", "upstreams": [], "load_balancing": balancing}}
                match = [{{"not": [{{"path": ["/warm-up"]}}]}}]
                waiting = {{"match": match, "handle": [waits]}}
                errors = {{"routes": [{{"handle": [served]}}]}}
                thinks = {{"handler": "subroute", "routes": [waiting], "errors": errors}}
                route["handle"].insert(len(route["handle"]) - 1, thinks)
    open(file, "w").write(json.dumps(config))
os.execv({caddy!r}, [{caddy!r}, *sys.argv[1:]])
"""


_THINKING_AIOQUIC = """\
#!{python} -I
# aioquic that thinks before it answers, with its event loop free meanwhile.
import asyncio, sys
if "-I" in sys.argv:
    sys.argv = sys.argv[sys.argv.index("-I") + 1 :]
if sys.argv[0].endswith("_aioquic_program.py"):
    source = open(sys.argv[0]).read()
    late = "asyncio.get_running_loop().call_later({think_s}, self._late, "
    source = source.replace("self._answer(self", late + "self")
    source = source.replace("    def _answer(", "    def _late(self, *what):\\n"
        "        self._answer(*what)\\n        self.transmit()\\n\\n    def _answer(")
    exec(compile(source, sys.argv[0], "exec"), {{"__name__": "__main__", "__file__": sys.argv[0]}})
else:
    import os
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
"""


def _thinking_aioquic(folder: Path, share: float) -> Path:
    """A prefix with a Python that runs aioquic's server so that it thinks for that share of a round trip."""
    text = _THINKING_AIOQUIC.format(python=sys.executable, think_s=share * _TRIP_MS / 1000)
    return _prefix(folder / f"aioquic-{share}", "python3", text)


def _prefix(folder: Path, name: str, text: str) -> Path:
    program = folder / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text(text)
    program.chmod(0o755)
    return folder


def _thinking_caddy(folder: Path, share: float) -> Path:
    """A prefix with a Caddy that thinks for that share of a round trip."""
    real = find_program("caddy")
    assert real is not None
    think_ns = round(share * _TRIP_MS * 1e6)
    text = _THINKING_CADDY.format(python=sys.executable, caddy=real.path, think_ns=think_ns)
    return _prefix(folder / f"caddy-{share}", "caddy", text)


_MAKERS = {"caddy": _thinking_caddy, "aioquic": _thinking_aioquic}
_LINKS = """\
[[path.link]]
name = "access"
rate = "50 Mbit/s"
delay = "20 ms"

[[path.link]]
name = "core"
rate = "50 Mbit/s"
delay = "10 ms"
"""


def _name(protocol: str, share: float) -> str:
    return f"{protocol}-{share}".replace(".", "_")


def _server_ms(account: pl.DataFrame) -> float:
    """Time of the server before it answers. On a busy machine a part of it may be its wait for a processor."""
    of_answer = pl.col("why").is_in(["request", "origin", "processor"])
    rows = account.filter(pl.col("what") == "server", of_answer)
    return float((rows["until_ns"] - rows["from_ns"]).sum()) / 1e6


def _captured(study: Path, trial: Mapping[str, Any]) -> tuple[int, int]:
    """Instants, by the server's capture alone, of the last byte of the request and of the answer's header."""
    rows = pl.read_parquet(study / "tables" / "http_requests" / f"{trial['trial_id']}.parquet")
    row = rows.filter(pl.col("source") == "raw/server.pcapng").sort("headers_ns").row(0, named=True)
    return row["send_end_ns"], row["headers_ns"]


def _thinks(folder: Path, arms: Mapping[str, str], shares: Mapping[str, float]) -> None:
    found = run_arms(folder, arms, "20 KB", delay=f"{_TRIP_MS / 2} ms")
    for arm, share in shares.items():
        assert found[arm]["status"] == "verified", found[arm]["reason"]
        account = account_of(folder / "study", found[arm])
        asked_ns, answers_ns = _captured(folder / "study", found[arm])
        assert (answers_ns - asked_ns) / 1e6 >= share * _TRIP_MS - 0.5, arm
        meanwhile = account.filter(pl.col("from_ns") >= asked_ns, pl.col("until_ns") <= answers_ns)
        assert _server_ms(meanwhile) == pytest.approx((answers_ns - asked_ns) / 1e6, abs=1), arm


@pytest.mark.parametrize(
    ("client", "server"),
    [
        ("curl-cffi", "caddy"),
        *by_night(("quic-go", "aioquic"), ("quic-go", "caddy"), ("quiche", "caddy"), ("quinn", "aioquic")),
    ],
)
def test_the_time_for_which_a_server_thinks_is_its_own(client: str, server: str, tmp_path: Path) -> None:
    """Half a round trip to three, over every protocol of both programs: as long as its capture shows."""
    need(("client", client), ("server", server))
    protocols = ("h2", "h3") if server == "caddy" and client in ("curl-cffi", "quic-go") else ("h3",)
    arms, shares = {}, {}
    for share in _SHARES:
        prefix = _MAKERS[server](tmp_path, share)
        for protocol in protocols:
            name = _name(protocol, share)
            told = f'server = {{ name = "{server}", prefix = "{prefix}" }}'
            arms[name], shares[name] = f'protocol = "{protocol}"\nclient = "{client}"\n{told}', share
    _thinks(tmp_path, arms, shares)


@pytest.mark.nightly
@pytest.mark.parametrize("proxy", ["haproxy", *by_night("nginx", "caddy", "envoy")])
def test_an_origin_that_thinks_has_the_time_behind_its_proxy(proxy: str, tmp_path: Path) -> None:
    """A round trip and a half of the client's, at the origin: by *what*, on no link."""
    need(("proxy", proxy), ("server", "caddy"))
    prefix = _thinking_caddy(tmp_path, 1.5)
    rest = f'client = "curl-cffi"\nproxy = "{proxy}"\nproxy_at = "access"'
    arms = {
        f"{protocol}-{thinks}": f'protocol = "{protocol}"\n{rest}\nserver = {server}'
        for protocol in ("h2", "h3")
        for thinks, server in (("no", '"caddy"'), ("yes", f'{{ name = "caddy", prefix = "{prefix}" }}'))
    }
    spec = tmp_path / "spec.toml"
    text = spec_text(arms, "20 KB", path=_LINKS)
    spec.write_text(text.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {trial["row"]["arm"]: trial for trial in trials(tmp_path / "study") if trial["status"] == "verified"}
    for protocol in ("h2", "h3"):
        at_server = _server_ms(account_of(tmp_path / "study", found[f"{protocol}-yes"]))
        assert at_server >= 1.5 * _TRIP_MS - 0.5
        whole = found[f"{protocol}-yes"]["client"]["requests"][0]
        without_ms = (whole["last_byte_ns"] - whole["start_ns"]) / 1e6 - at_server
        least = found[f"{protocol}-no"]["client"]["requests"][0]
        assert without_ms <= (least["last_byte_ns"] - least["start_ns"]) / 1e6 + 10, (
            "what passes at the origin is its own"
        )
