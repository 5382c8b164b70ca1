# SPDX-License-Identifier: Apache-2.0
"""A small Internet for tests: a namespace with an uplink, and behind it another one with real servers."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quiclab.lab.endpoints import Context, find
from quiclab.lab.testbed.certificates import HOST, make_certificates
from quiclab.lab.testbed.listening import ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace, add_veth
from quiclab.lab.testbed.user_commands import _cover
from quiclab.model.study import Certificate, Program

SERVER = "198.51.100.1"
URL = f"https://{HOST}"
_UPLINK, _ROUTER = "192.0.2.10", "192.0.2.1"
_MACS = "02:00:00:00:09:01", "02:00:00:00:09:02"


class _Here:
    """The calling thread's own network, as far as a pair of devices needs it."""

    @staticmethod
    def run(work: Any) -> Any:
        return work()


@contextmanager
def internet() -> Iterator[NetworkNamespace]:
    """The caller's network gets an uplink with a default route and a name; inside a sandbox. Nothing forwards yet."""
    from pyroute2 import IPRoute

    with NetworkNamespace() as outside:
        add_veth(_Here(), "uplink", outside, "far", _MACS)  # type: ignore[arg-type]
        outside.configure("far", mtu=1500, addresses={_ROUTER: 24}, route=None)
        outside.run(_server_address)
        with IPRoute() as ip:
            index = ip.link_lookup(ifname="uplink")[0]
            for device in (1, index):
                ip.link("set", index=device, state="up")
            ip.addr("add", index=index, address=_UPLINK, prefixlen=24)
            ip.route("add", dst="default", gateway=_ROUTER)
        _cover(Path("/etc/hosts"), f"127.0.0.1 localhost\n{SERVER} {HOST}\n")
        yield outside


def _server_address() -> None:
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        ip.addr("add", index=1, address=SERVER, prefixlen=32)


@contextmanager
def caddy(outside: NetworkNamespace, folder: Path, protocols: tuple[str, ...] = ("h1", "h2", "h3")) -> Iterator[Path]:
    """A web server on the Internet with everything below `folder`/www; the CA to trust."""
    kind = Certificate()
    made = make_certificates(folder / "tls", [SERVER], [kind])[kind]
    work = folder / "caddy"
    work.mkdir()
    context = Context(
        program=Program("caddy"),
        protocols=("h3",),
        ip_version=4,
        address=SERVER,
        port=443,
        host=HOST,
        object_name="",
        work_dir=work,
        root=folder / "www",
        certificate=made.certificate,
        key=made.key,
        ca=made.ca,
        qlog_dir=None,
        keylog=None,
        output=work / "none",
        session_file=work / "none",
    )
    command = find("server", "caddy").command(context)
    for file, text in command.files.items():
        config = json.loads(text)
        config["apps"]["http"]["servers"]["study"]["protocols"] = list(protocols)
        file.write_text(json.dumps(config))
    log = (work / "log").open("wb")
    process = outside.run(lambda: subprocess.Popen(command.argv, stdout=log, stderr=log, env=dict(command.env)))
    patience = time.monotonic() + 60
    try:
        with ListeningPorts(outside) as listening:
            while 443 not in listening.sockets("tcp") or ("h3" in protocols and 443 not in listening.sockets("udp")):
                assert process.poll() is None, (work / "log").read_text()
                assert time.monotonic() < patience, "the server does not listen"
                time.sleep(0.005)
        yield made.ca
    finally:
        process.kill()
        process.wait(10)
        log.close()
