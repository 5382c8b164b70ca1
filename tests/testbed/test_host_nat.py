# SPDX-License-Identifier: Apache-2.0
"""What a probe changes in its caller's network, and that nothing of it stays. The caller is a sandbox of the test's."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from internet import SERVER, internet
from live_link import in_sandbox

from quiclab.lab.testbed import nf_tables as nft
from quiclab.lab.testbed.host_nat import OUTER_MAC, HostNat, table_name, undo, why_not
from quiclab.lab.testbed.link import CLIENT_ADDRESSES
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.model.errors import BusyError, DecodeError, HostError

pytestmark = pytest.mark.netns

_GET_TABLE, _DUMP = 1, 0x300
_OTHER = "198.51.100.2"
_NUD_PERMANENT = 0x80


def _tables() -> list[str]:
    """Names of all nftables tables of this network."""
    names = []
    with nft._connect() as connection:
        connection.send(nft._message(nft._SUBSYSTEM << 8 | _GET_TABLE, 1 | _DUMP, 1, 0, 0, b""))
        answer = connection.recv(1 << 16)
    at = 0
    while at < len(answer):
        length, kind, _, _, _ = nft._MESSAGE.unpack_from(answer, at)
        if kind == nft._SUBSYSTEM << 8:
            size, attribute = struct.unpack_from("=HH", answer, at + 20)
            assert attribute == 1
            names.append(answer[at + 24 : at + 20 + size].rstrip(b"\0").decode())
        at += (length + 3) & ~3
    return names


def _routes() -> list[str]:
    """All IPv4 routes of this network."""
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        routes = [dict(route["attrs"]) for route in ip.get_routes(family=socket.AF_INET)]
    return sorted(str([route.get(f"RTA_{key}") for key in ("TABLE", "DST", "OIF", "GATEWAY")]) for route in routes)


def _state() -> dict[str, Any]:
    """Everything of this network that a probe could change."""
    switches = sorted(Path("/proc/sys/net/ipv4").glob("conf/*/forwarding"))
    return {
        "tables": _tables(),
        "routes": _routes(),
        "devices": sorted(each.name for each in Path("/proc/sys/net/ipv4/conf").iterdir()),
        "ip_forward": Path("/proc/sys/net/ipv4/ip_forward").read_text(),
        "forwarding": {file.parent.name: file.read_text() for file in switches},
    }


@contextmanager
def _another_network() -> Iterator[int]:
    """The id of a process with a network of its own, as the sandbox's first."""
    process = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    own = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{process.pid}/ns/net").readlink() == own:
        time.sleep(0.005)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_all_is_taken_back(tmp_path: Path) -> None:
    """While it is connected there are a table, a device and forwarding on the uplink; before and after, nothing."""

    def work() -> list[Any]:
        with internet(), _another_network() as pid:
            states = [_state()]
            with HostNat("my study", [SERVER], tmp_path / "record") as nat:
                states.append(_state())
                nat.connect(pid)
                states.append(_state())
                recorded = (tmp_path / "record").exists()
            states.append(_state())
            return [states, recorded, (tmp_path / "record").exists(), nat.device]

    (before, entered, connected, after), recorded, left, device = in_sandbox(work)
    assert before == entered == after
    assert (recorded, left) == (True, False)
    assert connected["tables"] == ["quiclab-my-study"]
    assert sorted(connected["devices"]) == sorted([*before["devices"], device])
    assert connected["forwarding"] == before["forwarding"] | {"uplink": "1\n", device: "1\n"}
    assert connected["ip_forward"] == before["ip_forward"] == "0\n"


def test_forwarding_that_was_on_stays_on(tmp_path: Path) -> None:
    """A machine that forwards already is left as it was."""

    def work() -> list[Any]:
        with internet(), _another_network() as pid:
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
            before = _state()
            with HostNat("study", [SERVER], tmp_path / "record") as nat:
                nat.connect(pid)
            return [before, _state()]

    before, after = in_sandbox(work)
    assert before == after
    assert after["forwarding"]["uplink"] == "1\n"


def test_killed_and_undone(tmp_path: Path) -> None:
    """After kill -9 the kernel has removed the table, and `undo` takes the rest back, once."""

    def work() -> list[Any]:
        with internet():
            before = _state()
            with _another_network() as pid:
                child = os.fork()
                if child == 0:
                    with HostNat("study", [SERVER], tmp_path / "record") as nat:
                        nat.connect(pid)
                        os.kill(os.getpid(), signal.SIGKILL)
                os.waitpid(child, 0)
                killed = _state()
                told = undo(tmp_path / "record")
                return [before, killed, told, _state(), undo(tmp_path / "record")]

    before, killed, told, after, again = in_sandbox(work)
    assert killed["forwarding"]["uplink"] == "1\n"
    assert killed["tables"] == []
    assert any("net.ipv4.conf.uplink.forwarding = 0" in each for each in told)
    assert any("device ql-" in each for each in told)
    assert before == after
    assert again == []


def test_the_next_probe_takes_back_what_the_killed_one_left(tmp_path: Path) -> None:
    """The record of before counts, not what the killed one made of it."""

    def work() -> Any:
        with internet(), _another_network() as pid:
            for fatal in (True, False):
                child = os.fork()
                if child == 0:
                    with HostNat("study", [SERVER], tmp_path / "record") as nat:
                        nat.connect(pid)
                        if fatal:
                            os.kill(os.getpid(), signal.SIGKILL)
                    os._exit(0)
                os.waitpid(child, 0)
            return _state()["forwarding"]["uplink"]

    assert in_sandbox(work) == "0\n"


_THEIRS = [
    ("device", "eth0"),
    ("device", "ql-1"),
    ("device", "ql-0123456789abcdef"),
    ("table", "filter"),
    ("table", "quiclab-" + "x" * 90),
    ("forwarding", {"FOLDER": "hello"}),
    ("forwarding", {"FOLDER": "1"}),
    ("forwarding", {"../../../FOLDER": "1"}),
    ("forwarding", {"all": "1"}),
    ("forwarding", {"uplink": "2"}),
    ("forwarding", {"..": "1"}),
    ("boot_id", None),
    ("network", "1"),
    ("more", 1),
]


@pytest.mark.parametrize(("name", "value"), [*_THEIRS[::3], *by_night(*_THEIRS[1::3], *_THEIRS[2::3])])
def test_a_record_that_names_what_is_not_ours_does_nothing(tmp_path: Path, name: str, value: Any) -> None:
    """No device or table of another program, no file elsewhere; and the record stays, to be looked into."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "forwarding").symlink_to(tmp_path / "victim")

    def work() -> list[Any]:
        with internet():
            told = {
                "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
                "network": Path("/proc/self/ns/net").stat().st_ino,
                "table": "quiclab-s",
                "device": "ql-01234567",
                "ip_forward": "0",
                "forwarding": {},
            }
            forged = json.dumps(told | {name: value}).replace("FOLDER", str(tmp_path / "x"))
            (tmp_path / "record").write_text(forged)
            before = _state()
            try:
                undo(tmp_path / "record")
            except DecodeError as error:
                return [before == _state(), error.message]
            return [before == _state(), "believed"]

    same, told = in_sandbox(work)
    assert same
    assert "is no record of a probe" in told
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "record").exists()


def test_one_probe_at_a_time(tmp_path: Path) -> None:
    """A second one is told to wait, and so is `undo`."""

    def work() -> list[str]:
        told = []
        with internet(), _another_network() as pid, HostNat("one", [SERVER], tmp_path / "one") as nat:
            nat.connect(pid)
            for attempt in (
                lambda: HostNat("two", [SERVER], tmp_path / "two").__enter__(),
                lambda: undo(tmp_path / "one"),
            ):
                try:
                    attempt()
                except BusyError as error:
                    told.append(error.message)
        return told

    assert in_sandbox(work) == ["another quiclab probe is using this machine's network"] * 2


def _as_client() -> None:
    """The sandbox's end of the pair, with the client's address on it."""
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        index = ip.link_lookup(ifname="uplink")[0]
        ip.link("set", index=index, state="up")
        ip.addr("add", index=index, address=CLIENT_ADDRESSES[4], prefixlen=32)
        for address in (SERVER, _OTHER):
            ip.route("add", dst=f"{address}/32", oif=index, scope="link")
            ip.neigh("add", dst=address, lladdr=OUTER_MAC, ifindex=index, state=_NUD_PERMANENT)


def _another_server() -> None:
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        ip.addr("add", index=1, address=_OTHER, prefixlen=32)


def test_only_the_servers_can_be_reached(tmp_path: Path) -> None:
    """What the client sends to other addresses ends here, and nobody else is forwarded."""

    def work() -> list[Any]:
        with internet() as outside, NetworkNamespace() as inner, HostNat("study", [SERVER], tmp_path / "record") as nat:
            holder = inner.run(lambda: subprocess.Popen(["sleep", "60"]))
            nat.connect(holder.pid)

            inner.run(_as_client)
            outside.run(_another_server)
            receivers = {}
            for address in (SERVER, _OTHER):
                receivers[address] = outside.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                receivers[address].bind((address, 9))
                receivers[address].settimeout(0.5)
            sender = inner.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            got = []
            for address, receiver in receivers.items():
                sender.sendto(b"hello", (address, 9))
                try:
                    got.append(receiver.recvfrom(10)[1][0])
                except TimeoutError:
                    got.append(None)
            holder.kill()
            holder.wait()
            return got

    assert in_sandbox(work) == ["192.0.2.10", None]


def test_a_tap_is_refused(tmp_path: Path) -> None:
    """User-mode stacks give a tap as uplink; what they would do to TCP is said."""

    def work() -> str:
        from pyroute2 import IPRoute

        with IPRoute() as ip:
            try:
                ip.link("add", ifname="eth0", kind="tuntap", mode="tap")
            except Exception as error:
                return f"skip {error}"
            index = ip.link_lookup(ifname="eth0")[0]
            ip.link("set", index=index, state="up")
            ip.addr("add", index=index, address="10.0.2.100", prefixlen=24)
            ip.route("add", dst="default", gateway="10.0.2.2")
        try:
            HostNat("study", [SERVER], tmp_path / "record").__enter__()
        except HostError as error:
            return error.message
        return "not refused"

    told = in_sandbox(work)
    if told.startswith("skip"):
        pytest.skip(f"no tap device here: {told}")
    assert "user-mode stacks (pasta, slirp4netns) end TCP on this machine" in told
    assert "eth0" in told


def test_servers_of_this_machine_and_beyond_reach(tmp_path: Path) -> None:
    """Neither needs a probe: both are told apart from what can be probed."""

    def work() -> list[str]:
        from pyroute2 import IPRoute

        told = []
        with internet():
            for address in ("192.0.2.10", "127.0.0.1"):
                with pytest.raises(HostError) as caught:
                    HostNat("study", [address], tmp_path / "record").__enter__()
                told.append(caught.value.message)
            with IPRoute() as ip:
                ip.route("del", dst="0.0.0.0/0", gateway="192.0.2.1")
            with pytest.raises(HostError) as caught:
                HostNat("study", [SERVER], tmp_path / "record").__enter__()
            told.append(caught.value.message)
        return told

    own, loopback, nowhere = in_sandbox(work)
    assert "192.0.2.10 is this machine itself" in own
    assert "127.0.0.1 is this machine itself" in loopback
    assert f"no route to {SERVER}" in nowhere


def test_a_record_of_another_network_or_start(tmp_path: Path) -> None:
    """Of another network namespace: left alone and said. Of before the last start of the machine: nothing is left."""
    record = tmp_path / "record"
    change = {
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "network": 1,
        "table": "quiclab-x",
        "device": "ql-00000000",
        "ip_forward": "0",
        "forwarding": {},
    }

    def work() -> list[Any]:
        record.write_text(json.dumps(change))
        with pytest.raises(HostError, match="another network namespace"):
            undo(record)
        kept = record.exists()
        record.write_text(json.dumps(change | {"boot_id": "an earlier one"}))
        return [kept, undo(record), record.exists()]

    assert in_sandbox(work) == [True, [], False]


def test_names_of_tables() -> None:
    """Letters that nft reads, whatever the study is called."""
    assert table_name("probe-www.example.com") == "quiclab-probe-www.example.com"
    assert table_name("a b/ü") == "quiclab-a-b--"


def test_the_flag_is_needed() -> None:
    """Root alone is not enough, and the refusal says what to do."""
    refusal = why_not(allowed=False)
    assert refusal is not None
    assert "--allow-host-nat" in refusal.message
    assert "user-mode stacks (pasta, slirp4netns) end TCP on this machine" in refusal.message
    assert refusal.hint.startswith("as root: quiclab probe --allow-host-nat")


def test_a_table_with_two_owners() -> None:
    """The name is taken while its owner lives, and free again when it is closed."""

    def work() -> list[Any]:
        first, second = nft.OwnedTable("quiclab-x"), nft.OwnedTable("quiclab-x")
        first.add([], [])
        with pytest.raises(HostError) as caught:
            second.add([], [])
        removed = nft.remove_table("quiclab-x")
        first.close()
        second.add([], [])
        tables = _tables()
        second.close()
        return [os.strerror(errno.EPERM) in caught.value.message, removed, tables, _tables()]

    assert in_sandbox(work) == [True, False, ["quiclab-x"], []]
