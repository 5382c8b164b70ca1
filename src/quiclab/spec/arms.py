# SPDX-License-Identifier: Apache-2.0
"""`[[arm]]`: a protocol, the programs at both ends, a proxy, the certificate, and TCP's settings."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from typing import Any, get_args

from quiclab.model.program import BROWSERS, TLS_GROUPS
from quiclab.model.study import PLACEHOLDERS, Arm, Certificate, Knobs, Program, Protocol, Role, Tcp
from quiclab.model.units import ByteCount, Duration
from quiclab.project import release_folder, releases_of
from quiclab.spec import json_form, kinds
from quiclab.spec.nodes import (
    Kind,
    Node,
    ReportedError,
    WrongValueError,
    closest,
    form_of,
    is_number,
    read_keys,
    show,
    table,
)

LINUX_CONGESTION_CONTROLS = (
    *("reno", "cubic", "bbr", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable"),
    *("vegas", "veno", "westwood", "yeah"),
)
"""Congestion control modules of Linux (net/ipv4); `quiclab doctor` says which of them a machine has."""

_TCP_CONGESTION_CONTROL = kinds.choice(LINUX_CONGESTION_CONTROLS, '"reno", "cubic", "bbr" or another of Linux')


def _three_sizes(node: Node) -> tuple[ByteCount, ...]:
    sizes = _SIZES.read(node)
    if list(sizes) != sorted(sizes):
        raise WrongValueError(
            "the three sizes are minimum, default and maximum, so none may be smaller than the one before"
        )
    return sizes


_SIZES = kinds.several(kinds.SIZE, 'an array of three sizes such as ["4096 B", "131072 B", "6 MiB"]', least=3, most=3)
_BUFFER: Kind[tuple[ByteCount, ...]] = Kind(_SIZES.wanted, _three_sizes, _SIZES.form)

TCP_KEYS: Mapping[str, Kind[Any]] = {
    "congestion_control": _TCP_CONGESTION_CONTROL,
    **{f"{role}_congestion_control": _TCP_CONGESTION_CONTROL for role in get_args(Role)},
    "initial_window": kinds.whole(1, 10_000),
    "receive_buffer": _BUFFER,
    "send_buffer": _BUFFER,
    "sack": kinds.FLAG,
    "timestamps": kinds.FLAG,
    "ecn": kinds.FLAG,
    "slow_start_after_idle": kinds.FLAG,
    "dsack": kinds.FLAG,
    "rack": kinds.FLAG,
    "reordering": kinds.whole(1, 300),
    "pacing": kinds.FLAG,
}
TCP: Kind[Tcp] = table('a table such as {congestion_control = "reno", initial_window = 10}', Tcp, TCP_KEYS)


_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VERSION_TEXT = re.compile(r"[0-9][0-9A-Za-z.+~-]*")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def _read_template(node: Node) -> str:
    template = kinds.text("a text").read(node)
    if "\0" in template:
        raise WrongValueError("a NUL character cannot be handed to a program")
    for name in _PLACEHOLDER.findall(template):
        if name not in PLACEHOLDERS:
            raise WrongValueError(f'"{{{name}}}" is not a placeholder; {closest(name, PLACEHOLDERS, "placeholders")}')
    return template


def _read_env(node: Node) -> tuple[tuple[str, str], ...]:
    if not isinstance(node.value, dict):
        raise WrongValueError(f"{show(node.value)}; write {_ENV.wanted}")
    for name in node.value:
        if not _ENV_NAME.fullmatch(name):
            node.child(name).report("an environment variable has letters, digits and underscores")
    return tuple(sorted(read_keys(node, dict.fromkeys(node.value, _TEMPLATE)).items()))


def _read_version(node: Node) -> str:
    version = kinds.text(_VERSION.wanted).read(node)
    if not _VERSION_TEXT.fullmatch(version):
        raise WrongValueError(f'"{version}" is not a version; write {_VERSION.wanted}')
    return version


_TEMPLATE: Kind[str] = Kind("a text", _read_template, json_form.TEXT)
_VERSION: Kind[str] = Kind(
    'the beginning of a version such as "1.30"', _read_version, json_form.matching(_VERSION_TEXT.pattern)
)
_ENV: Kind[tuple[tuple[str, str], ...]] = Kind(
    'a table of texts such as {QLOGDIR = "{qlog_dir}"}',
    _read_env,
    {"type": "object", "additionalProperties": json_form.TEXT},
)

PROGRAM_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "argv": kinds.several(_TEMPLATE, "an array of texts with at least the program itself", least=1),
    "env": _ENV,
    "ready": kinds.choice(("udp", "tcp", "both", "none")),
    "prefix": kinds.PREFIX,
    "version": _VERSION,
    "cpu": kinds.SHARE,
    "cpu_by": kinds.choice(("quota", "competitor", "emulator")),
}
_KNOWN_ONLY, _OWN_ONLY = ("prefix", "version"), ("env", "ready")
"""Keys for programs that quiclab knows, and keys for the user's own programs: each does nothing for the other kind."""
CERTIFICATE_KEYS: Mapping[str, Kind[Any]] = {
    "key": kinds.choice(("ecdsa-p256", "rsa-2048", "rsa-4096", "ed25519")),
    "intermediates": kinds.whole(0, 20),
}
_CERTIFICATE: Kind[Certificate] = table(
    'a table such as {key = "rsa-2048", intermediates = 2}', Certificate, CERTIFICATE_KEYS
)


def _check_emulated(node: Node, values: Mapping[str, object]) -> None:
    """Report what an emulator cannot do: give a share of a core, or follow a program into those that it starts."""
    if "cpu" in values:
        node.child("cpu").report('an emulator gives no share of a core; leave "cpu" out, or write cpu_by = "quota"')
    if values.get("name") in BROWSERS:
        node.child("cpu_by").report(
            f'{values["name"]} starts programs that an emulator does not reach; write cpu_by = "quota" and a cpu'
        )


def program(known: Collection[str]) -> Kind[Program]:
    """A program by name (one of `known`, or any name where that is empty) or by the user's own command."""
    wanted = 'the name of a program, or a table with "argv" for a program of your own'

    def check_name(node: Node, name: str) -> None:
        if known and name not in known:
            node.report(f'no program is called "{name}"; {closest(name, known, "programs")}')

    def read(node: Node) -> Program:
        if isinstance(node.value, str):
            name = kinds.NAME.read(node)
            check_name(node, name)
            return Program(name)
        if not isinstance(node.value, dict):
            raise WrongValueError(f"{show(node.value)}; write {wanted}")
        before = node.source.reports
        values = read_keys(node, {**PROGRAM_KEYS, **KNOB_KEYS})
        if ("name" in node.value) == ("argv" in node.value):
            raise WrongValueError('write either "name" (a program that quiclab knows) or "argv" (one of your own)')
        for key in _KNOWN_ONLY if "argv" in node.value else _OWN_ONLY:
            if key in node.value:
                whose = "a program that quiclab knows" if "argv" in node.value else "a program of your own (argv)"
                node.child(key).report(f'"{key}" belongs to {whose}; leave it out')
        if values.get("cpu_by") == "emulator":
            _check_emulated(node, values)
        if "name" in values:
            check_name(node.child("name"), values["name"])
        if node.source.reports > before:
            raise ReportedError
        if "prefix" not in values and values.get("version") in releases_of(values.get("name", "")):
            values["prefix"] = str(release_folder(values["name"], values["version"]))
        knobs = {name: values.pop(name) for name in KNOB_KEYS if name in values}
        return Program(**{"name": "command", **values, "knobs": Knobs(**knobs)})

    return Kind(wanted, read, json_form.either(kinds.NAME.form, form_of({**PROGRAM_KEYS, **KNOB_KEYS}, Program, ())))


def arm_keys(names: Mapping[str, Collection[str]] = {}) -> Mapping[str, Kind[Any]]:
    """Keys of `[[arm]]`. `names` has the known programs by role; a role without names takes any."""
    return {
        "name": kinds.NAME,
        "protocol": kinds.choice(get_args(Protocol)),
        "client": program(names.get("client", ())),
        "server": program(names.get("server", ())),
        "proxy": program(names.get("proxy", ())),
        "proxy_at": kinds.NAME,
        "origin_protocol": kinds.choice(get_args(Protocol)),
        "certificate": _CERTIFICATE,
        "tcp": TCP,
        "only_for": kinds.choice(("competition",)),
        "baseline": kinds.NAME,
    }


_NEEDED = ("name", "protocol", "client", "server")


def arm_form() -> json_form.Form:
    """Form of `[[arm]]`, of any programs."""
    return form_of(arm_keys(), Arm, _NEEDED)


def grid_form() -> json_form.Form:
    """Form of the keys of `[[arm]]` in which a list makes a grid: those of its programs."""
    keys = arm_keys()
    return form_of({role: keys[role] for role in get_args(Role)}, Arm, ())


_NO_TCP = Tcp(congestion_control="")
_UNUSED_TCP = Tcp(congestion_control="reno")
"""TCP of a study in which nothing is sent over it: what every kernel has, so that namespaces are alike everywhere."""


def read_arms(nodes: list[Node], keys: Mapping[str, Kind[Any]], baseline: str | None) -> tuple[Arm, ...]:
    """Read every `[[arm]]`; an H3 arm without TCP settings takes those of the baseline or of the first arm that has
    some.

    TCP settings matter to H3 arms too: both ends of every trial run in namespaces that are set up in the same way.
    """
    arms = []
    for node in nodes:
        before = node.source.reports
        try:
            values = read_keys(node, keys, required=_NEEDED)
        except ValueError as error:
            node.report(str(error))
            continue
        if "baseline" in node.value and "only_for" in node.value:
            node.child("baseline").report("an arm that only competes is compared with nothing; leave it out")
        if "origin_protocol" in node.value and "proxy" not in node.value:
            node.child("origin_protocol").report("without a proxy there is no origin; add proxy, or leave it out")
        if "proxy_at" in node.value and "proxy" not in node.value:
            node.child("proxy_at").report("there is no proxy; add proxy, or leave it out")
        if isinstance(node.value.get("tcp"), dict) and "proxy" not in node.value:
            for key in ("proxy_congestion_control",) if "proxy_congestion_control" in node.value["tcp"] else ():
                node.child("tcp").child(key).report("there is no proxy; add proxy, or leave it out")
        if "tcp" not in node.value and values.get("protocol") in ("h1", "h2"):
            node.report(
                '"tcp" is missing; write tcp = {congestion_control = "reno"}: the machine\'s default is never used'
            )
        if node.source.reports == before:
            arms.append(Arm(**{"tcp": _NO_TCP, **values}))
    pinned = sorted((arm for arm in arms if arm.tcp is not _NO_TCP), key=lambda arm: arm.name != baseline)
    if pinned:
        return tuple(arm if arm.tcp is not _NO_TCP else dataclasses.replace(arm, tcp=pinned[0].tcp) for arm in arms)
    over_quic = all(protocol == "h3" for arm in arms for _, _, protocol in arm.programs())
    if arms and not over_quic and all(arm.protocol == "h3" for arm in arms) and len(arms) == len(nodes):
        nodes[0].report(
            'no arm has "tcp", which a proxy speaks to its origin; write tcp = {congestion_control = "reno"} in one: '
            "the others take it from there"
        )
    return tuple(dataclasses.replace(arm, tcp=_UNUSED_TCP) if over_quic else arm for arm in arms)


# The knobs of a program, read from its table.
def _read_time_threshold(node: Node) -> float:
    if not is_number(node.value) or not 1 <= node.value <= 100:
        raise WrongValueError(f"{show(node.value)}; write {_TIME_THRESHOLD.wanted}")
    return float(node.value)


_TIME_THRESHOLD: Kind[float] = Kind(
    "a number of round-trip times from 1 to 100, such as 1.125",
    _read_time_threshold,
    {"type": "number", "minimum": 1, "maximum": 100},
)

KNOB_KEYS: Mapping[str, Kind[Any]] = {
    "congestion_control": kinds.NAME,
    "initial_window": kinds.whole(1, 10_000),
    "max_window": kinds.SIZE,
    "pacing": kinds.FLAG,
    "hystart": kinds.FLAG,
    "connection_window": kinds.SIZE,
    "stream_window": kinds.SIZE,
    "upload_window": kinds.SIZE,
    "max_streams": kinds.whole(1, 100_000),
    "groups": kinds.several(
        kinds.choice(TLS_GROUPS), 'an array of TLS groups such as ["secp384r1", "x25519"]', least=1
    ),
    "tls_version": kinds.choice(("1.2", "1.3")),
    "session": kinds.choice(("fresh", "resumed", "early_data")),
    "http_cache": kinds.FLAG,
    "address_token": kinds.FLAG,
    "early_data": kinds.FLAG,
    "ack_delay": kinds.DELAY,
    "ack_frequency": kinds.whole(1, 1000),
    "peer_ack_frequency": kinds.whole(1, 100_000),
    "peer_ack_delay": kinds.quantity(Duration, "a delay", "40 ms", Duration(10**6), Duration(60 * 10**9)),
    "packet_threshold": kinds.whole(1, 100_000),
    "time_threshold": _TIME_THRESHOLD,
    "initial_rtt": kinds.TIME,
    "gso": kinds.FLAG,
    "ecn": kinds.FLAG,
    "max_payload": kinds.whole(1200, 65_527),
    "path_mtu_discovery": kinds.FLAG,
    "scheduler": kinds.choice(("fifo", "round_robin")),
    "priorities": kinds.FLAG,
    "retry": kinds.FLAG,
    "udp_receive_buffer": kinds.SIZE,
    "compression": kinds.FLAG,
    "origin_connection": kinds.choice(("warm", "cold")),
    "verify": kinds.FLAG,
    "migration": kinds.choice(("active", "rebinding")),
    "migrate_at": kinds.SIZE,
    "on_address_change": kinds.choice(("migrate", "rebind", "restart", "resume")),
    "reconnect_session": kinds.choice(("fresh", "resumed")),
}
