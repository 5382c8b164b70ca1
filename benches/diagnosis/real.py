# SPDX-License-Identifier: Apache-2.0
"""Verdicts on real programs: a cause is planted by a setting of one arm, and labelled by what the pairs measure.

    python benches/diagnosis/real.py [--shard I/N] [--only NAME …] [--folder FOLDER] [--out FILE]

One study a case: the same programs in both arms, 10 pairs over one path. It needs the installed stacks, and a machine
that does nothing else.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
from trials import CLEAR, NOTHING, Result, _scored_verdict, as_line

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import OpenedStudy, open_study
from quiclab.why.explanation import explanations

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 10
_SURE = 3.0
Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Real:
    """A setting of one program, and the cause that it plants."""

    name: str
    cause: str
    """Name in benches/diagnosis/planted.py; "" where the arms are the same."""
    protocol: str
    client: Keys
    server: Keys
    planted: tuple[str, str, Any]
    """Table (`client`, `server`, `tcp`, `certificate`), key, value."""
    without: Any
    """Value of the same key in the other arm; None where it stays away there."""
    path: Keys = field(default_factory=dict)
    size: str = "400 KB"
    proxy: Keys | None = None
    objects: Keys = field(default_factory=dict)
    """Keys of the workload beside the size."""
    second: Second | None = None

    @property
    def causes(self) -> tuple[str, ...]:
        """All that are planted."""
        return tuple(filter(None, (self.cause, self.second.cause if self.second else "")))


@dataclass(frozen=True)
class Second:
    """Another setting of the same arm, which plants another cause."""

    cause: str
    planted: tuple[str, str, Any]
    without: Any


def _quinn(name: str, cause: str, planted: tuple[str, str, Any], without: Any, **more: Any) -> Real:
    return Real(name, cause, "h3", {"name": "quinn"}, {"name": "quinn"}, planted, without, **more)


def _quiche(
    name: str, cause: str, planted: tuple[str, str, Any], without: Any, server: Keys | None = None, **more: Any
) -> Real:
    return Real(name, cause, "h3", {"name": "quiche"}, {"name": "quiche", **(server or {})}, planted, without, **more)


def _tcp(name: str, cause: str, planted: tuple[str, str, Any], without: Any, **more: Any) -> Real:
    return Real(name, cause, "h2", {"name": "curl-cffi"}, {"name": "nginx"}, planted, without, **more)


def _go(name: str, cause: str, planted: tuple[str, str, Any], without: Any, protocol: str = "h3", **more: Any) -> Real:
    return Real(name, cause, protocol, {"name": "quic-go"}, {"name": "quic-go"}, planted, without, **more)


def _ngtcp2(name: str, cause: str, planted: tuple[str, str, Any], without: Any, **more: Any) -> Real:
    return Real(name, cause, "h3", {"name": "ngtcp2"}, {"name": "ngtcp2"}, planted, without, **more)


def _caddy(name: str, cause: str, planted: tuple[str, str, Any], without: Any, **more: Any) -> Real:
    return Real(name, cause, "h2", {"name": "curl-cffi"}, {"name": "caddy"}, planted, without, **more)


_FAR = {"rate": "20 Mbit/s", "delay": "30 ms", "queue": "4 bdp"}
_SLOW = {"rate": "6 Mbit/s", "delay": "60 ms", "queue": "4 bdp"}
_REORDERS = {"reorder": {"probability": "8 %", "extra_delay": "6 ms"}}
_LOSES = {"loss": "1 %"}
_SMALL_BUFFER = ["4096 B", "32 KiB", "32 KiB"]


def _cases() -> tuple[Real, ...]:
    nginx_h3 = {"client": {"name": "quiche"}, "server": {"name": "nginx"}}
    everywhere = (
        _quinn("quinn-same", "", ("server", "initial_window", 32), 32),
        _quinn("quinn-initial-window", "initial window", ("server", "initial_window", 4), 32),
        _quinn("quinn-largest-window", "largest window", ("server", "max_window", "32 KB"), "25 MB"),
        _quinn("quinn-stream-credit", "stream credit", ("client", "stream_window", "48 KB"), "4 MB"),
        _quinn("quinn-connection-credit", "connection credit", ("client", "connection_window", "48 KB"), "8 MB"),
        _quinn("quinn-trickle", "trickling program", ("server", "name", "quinn-faulty-trickle"), "quinn"),
        _quinn(
            "quinn-certificate", "long certificate", ("certificate", "intermediates", 5), 0, size="100 KB"
        ),
        _quiche("quiche-initial-window", "initial window", ("server", "initial_window", 4), 32),
        _quiche("quiche-stream-credit", "stream credit", ("client", "stream_window", "48 KB"), "4 MB"),
        _quiche("quiche-same", "", ("client", "stream_window", "4 MB"), "4 MB", path=_LOSES),
        _quiche("quiche-reno", "halving instead of 0.7", ("server", "congestion_control", "reno"), "cubic",
                path=_LOSES, size="2 MB"),
        _quiche("quiche-no-pacing", "no pacing", ("server", "pacing", False), True,
                server={"congestion_control": "bbr2"}, path={"queue": "0.25 bdp"}, size="1 MB"),
        Real("nginx-stream-buffer", "send buffer", "h3", **nginx_h3, planted=("server", "stream_window", "48 KB"),
             without="1 MB"),
        Real("nginx-same", "", "h3", **nginx_h3, planted=("server", "stream_window", "64 KB"), without="64 KB"),
        _tcp("tcp-initial-window", "initial window", ("tcp", "initial_window", 2), 32),
        _tcp("tcp-send-buffer", "send buffer", ("tcp", "send_buffer", _SMALL_BUFFER), None),
        _tcp("tcp-receive-buffer", "receive window", ("tcp", "receive_buffer", _SMALL_BUFFER), None),
        _tcp("tcp-reno", "halving instead of 0.7", ("tcp", "congestion_control", "reno"), "cubic", path=_LOSES,
             size="2 MB"),
        _tcp("tcp-same", "", ("tcp", "initial_window", 10), 10, path=_LOSES),
        _go("quic-go-stream-credit", "stream credit", ("client", "stream_window", "48 KB"), "4 MB"),
        _go("quic-go-connection-credit", "connection credit", ("client", "connection_window", "64 KB"), "8 MB"),
        _go("quic-go-h2-stream-credit", "stream credit", ("client", "stream_window", "64 KB"), "4 MB", "h2"),
        _go("quic-go-same", "", ("client", "stream_window", "4 MB"), "4 MB", path=_LOSES),
        _ngtcp2("ngtcp2-stream-credit", "stream credit", ("client", "stream_window", "48 KB"), "4 MB"),
        _ngtcp2("ngtcp2-connection-credit", "connection credit", ("client", "connection_window", "48 KB"), "8 MB"),
        _ngtcp2("ngtcp2-same", "", ("client", "stream_window", "4 MB"), "4 MB", path=_LOSES),
        _quiche("quiche-connection-credit", "connection credit", ("client", "connection_window", "48 KB"), "8 MB"),
        _caddy("caddy-initial-window", "initial window", ("tcp", "initial_window", 2), 32),
        _caddy("caddy-receive-buffer", "receive window", ("tcp", "receive_buffer", _SMALL_BUFFER), None),
        _caddy("caddy-same", "", ("tcp", "initial_window", 10), 10),
    )  # fmt: skip
    far_alone = (
        _quinn("quinn-threshold", "reordering taken for loss", ("server", "packet_threshold", 3), 200, path=_REORDERS),
        _quinn(
            "quinn-threshold-in-order", "reordering taken for loss", ("server", "packet_threshold", 3), 200
        ),
        _quinn("quinn-hasty-probes", "probes too early", ("server", "name", "quinn-faulty-initial-pto"), "quinn",
               path={"delay": "60 ms"}, size="100 KB"),
        _quiche("quiche-hystart", "slow start left early", ("server", "hystart", True), False,
                path={"jitter": {"distribution": "normal", "scale": "6 ms"}}, size="1 MB"),
        _quiche("quiche-slow-client", "client without a processor", ("client", "cpu", "2 %"), None, size="1 MB"),
        _quinn("quinn-hello-retry", "HelloRetryRequest", ("server", "groups", ["secp384r1"]), ["x25519"],
               size="100 KB"),
        _tcp("nginx-hello-retry", "HelloRetryRequest", ("server", "groups", ["secp384r1"]), ["x25519"], size="100 KB"),
        _go("quic-go-tls12", "TLS 1.2", ("client", "tls_version", "1.2"), "1.3", "h2", size="100 KB"),
        _quinn("quinn-acks-held", "acknowledgments held over QUIC", ("server", "peer_ack_frequency", 64), 2),
        _go("quic-go-stream-limit", "stream limit", ("server", "max_streams", 1), 100, size="30 KB",
            objects={"count": 12}),
        _quinn("quinn-same-without-gso", "", ("server", "gso", False), False),
        _quinn("quinn-order", "", ("server", "scheduler", "round_robin"), "fifo"),
        _go("quic-go-upload-credit", "stream credit", ("server", "stream_window", "48 KB"), "4 MB",
            objects={"direction": "upload"}),
        _go("quic-go-h2-upload-credit", "stream credit", ("server", "stream_window", "64 KB"), "4 MB", "h2",
            objects={"direction": "upload"}),
    )  # fmt: skip
    two = (
        _tcp("two-tcp-windows", "initial window", ("tcp", "initial_window", 2), 32,
             second=Second("receive window", ("tcp", "receive_buffer", _SMALL_BUFFER), None)),
        _quinn("two-quinn-window-and-credit", "initial window", ("server", "initial_window", 4), 32,
               second=Second("stream credit", ("client", "stream_window", "48 KB"), "4 MB")),
        _quinn("two-quinn-credit-and-certificate", "connection credit", ("client", "connection_window", "48 KB"),
               "8 MB", second=Second("long certificate", ("certificate", "intermediates", 5), 0)),
        _quinn("two-quinn-largest-window-and-certificate", "largest window", ("server", "max_window", "32 KB"),
               "25 MB", second=Second("long certificate", ("certificate", "intermediates", 5), 0)),
        Real("two-nginx-buffer-and-certificate", "send buffer", "h3", **nginx_h3,
             planted=("server", "stream_window", "48 KB"), without="1 MB",
             second=Second("long certificate", ("certificate", "intermediates", 5), 0)),
        _go("two-quic-go-windows", "stream credit", ("client", "stream_window", "48 KB"), "4 MB",
            second=Second("long certificate", ("certificate", "intermediates", 5), 0)),
        _caddy("two-caddy-windows", "initial window", ("tcp", "initial_window", 2), 32,
               second=Second("receive window", ("tcp", "receive_buffer", _SMALL_BUFFER), None)),
    )  # fmt: skip
    others = (
        _quinn("quinn-stream-limit", "stream limit", ("server", "max_streams", 1), 100, size="30 KB",
               objects={"count": 12}),
        _tcp("haproxy-slow", "proxy without a processor", ("proxy", "cpu", "6 %"), None, size="4 MB",
             path={"rate": "100 Mbit/s"},
             proxy={"name": "haproxy"}),
        _tcp("haproxy-initial-window", "initial window", ("tcp", "initial_window", 2), 32, proxy={"name": "haproxy"}),
        Real("quinn-false-sample", "false round-trip sample", "h3", {"name": "quinn"},
             {"name": "quinn", "congestion_control": "bbr", "initial_window": 32},
             ("server", "name", "quinn-faulty-rtt-sample"), "quinn", path={"rate": "4 Mbit/s", "delay": "57.5 ms"},
             size="1 MB"),
        _tcp("envoy-stream-credit", "stream credit", ("proxy", "stream_window", "64 KiB"), "4 MB",
             proxy={"name": "envoy"}, objects={"direction": "upload"}),
        _tcp("haproxy-stream-credit", "stream credit", ("proxy", "stream_window", "64 KB"), "4 MB",
             proxy={"name": "haproxy"}, objects={"direction": "upload"}),
        _quinn("quinn-reduced-twice", "window reduced twice in one step",
               ("server", "name", "quinn-faulty-reduced-twice"), "quinn", path=_LOSES, size="2 MB"),
        _quinn("quinn-coarse-timers", "coarse timers", ("server", "name", "quinn-faulty-coarse-timers"), "quinn",
               size="1 MB"),
        _quinn("quinn-every-loss", "window reduced at every loss", ("server", "name", "quinn-faulty-every-loss"),
               "quinn", path={"queue": "0.25 bdp"}, size="1 MB"),
    )  # fmt: skip
    slow = (replace(each, name=f"{each.name}-slow", path={**_SLOW, **each.path}) for each in everywhere)
    return (*everywhere, *far_alone, *slow, *two, *others)


CASES = _cases()


def spec(case: Real) -> dict[str, Any]:
    """The spec of a case, as tables."""
    settings = [(case.planted, case.without), *([(case.second.planted, case.second.without)] if case.second else [])]
    arms = []
    for name, there in _arms(case).items():
        arm: dict[str, Any] = {"name": name, "protocol": case.protocol, "client": dict(case.client)}
        arm |= {"server": dict(case.server), "tcp": {"congestion_control": "cubic", "initial_window": 10}}
        arm |= {"proxy": dict(case.proxy)} if case.proxy else {}
        for ((where, key, planted), without), is_there in zip(settings, there, strict=True):
            if (kept := planted if is_there else without) is not None:
                arm.setdefault(where, {})[key] = kept
        arms.append(arm)
    return {
        "study": {"name": case.name, "seed": 7, "blocks": PAIRS, "aa": {"blocks": 0}},
        "workload": [{"name": "object", "size": case.size, **case.objects}],
        "path": [{"name": "far", **_FAR, **case.path}],
        "arm": arms,
    }


def _arms(case: Real) -> dict[str, tuple[bool, ...]]:
    """Arm → which of its causes are there."""
    if case.second is None:
        return {"without": (False,), "planted": (True,)}
    return {"without": (False, False), "planted": (True, True), "less-1": (False, True), "less-2": (True, False)}


def toml(tables: Keys) -> str:
    """Tables as TOML."""
    lines = []
    for name, table in tables.items():
        for each in table if isinstance(table, list) else [table]:
            lines.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            lines += [f"{key} = {_value(value)}" for key, value in each.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else f'"{value}"'


def result(case: Real, folder: Path) -> Result:
    """Run a case as a user would, and read the verdicts."""
    study = folder / case.name
    if not (study / "metrics.parquet").exists():
        written = folder / f"{case.name}.toml"
        written.write_text(toml(spec(case)))
        subprocess.run([ROOT / ".venv/bin/quiclab", "run", written, "--out", study], check=True)
    opened, analysis = open_study(study), analyse_study(study)
    comparisons = [
        each for each in analysis.comparisons if {each.baseline.arm, each.other.arm} == {"without", "planted"}
    ]
    (found,) = explanations(opened, analysis, comparisons)
    told, total = found.causes, found.waterfall.total
    sign = 1 if found.comparison.other.arm == "planted" else -1
    planted_ms, without_ms = (total.other_ms, total.baseline_ms)[::sign]
    # Of two causes each is what the arm gains without it alone.
    others = ["less-1", "less-2"] if case.second else ["without"]
    effects = [_effect(opened, other) for other in others]
    sure = all(mean >= max(CLEAR * planted_ms, _SURE * error) for mean, error in effects)
    nothing = all(abs(mean) + error < 2 * NOTHING * planted_ms for mean, error in effects)
    return Result(
        f"7/{CASES.index(case)}",
        ("none", "one", "two")[len(case.causes)],
        case.causes,
        (case.protocol, case.protocol),
        "real",
        planted_ms,
        without_ms,
        tuple(mean for mean, _ in effects) if case.causes else (),
        0.0,
        "cause" if sure and case.causes else "null" if nothing or not case.causes else "grey",
        tuple(_scored_verdict(each, sign) for each in told),
        (),
    )


def _effect(study: OpenedStudy, other: str) -> tuple[float, float]:
    """Mean over the pairs of what the planted arm takes longer than another one, and its standard error."""
    rows = study.trials.filter(pl.col("status") == "verified", pl.col("kind") == "main")
    values = study.metrics.filter(pl.col("name") == "ttlb_ms").select("trial_id", "value")
    times = rows.join(values, on="trial_id").pivot("arm", index="block", values="value")
    each = times.select(pl.col("planted") - pl.col(other)).to_series().drop_nulls()
    return float(each.mean()), float(each.std()) / len(each) ** 0.5  # type: ignore[arg-type]


def main() -> None:
    """Run some of the cases."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shard", default="1/1", metavar="I/N")
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--folder", type=Path, default=Path("diagnosis-studies"))
    parser.add_argument("--out", type=Path, default=Path("diagnosis-real.jsonl"))
    arguments = parser.parse_args()
    first, step = (int(each) for each in arguments.shard.split("/"))
    asked = [each for each in CASES if not arguments.only or each.name in arguments.only]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w") as out:
        for case in asked[first - 1 :: step]:
            try:
                found = result(case, arguments.folder)
            except subprocess.CalledProcessError as error:
                print(f"{case.name}: {error}", file=sys.stderr)
                continue
            out.write(as_line(found) + "\n")
            out.flush()
            shown = [f"{each.status} {each.name} {each.difference_ms:+.0f} ms" for each in found.verdicts if each.found]
            print(f"{case.name}: {found.label} {found.effects_ms} | {'; '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
