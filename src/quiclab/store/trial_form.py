# SPDX-License-Identifier: Apache-2.0
"""The form of trial.json: what everything relies on that reads it."""

from __future__ import annotations

from quiclab.store.forms import Each, NotEmpty, Number, OrText

_TEXTS_OF_ROW = ("trial_id", "block_id", "kind", "cell_id", "workload", "path", "arm", "arm_name", "baseline_arm")
_EXPECTED = {
    "direction": str,
    "name": str,
    "body_bytes": int,
    "sha256": str,
    "concurrency": int,
    "objects": [{"name!": str, "body_bytes": int, "sha256": str}],
    "page": {"document": str, "main_image": str, "resources!": NotEmpty({"url!": str, "bytes": int})},
    "video": {
        "name!": str,
        "file_bytes": int,
        "length": {"ns!": int},
        "representations": [{"height!": Number, "bit_per_s!": Number}],
    },
}
_REQUEST = {
    "url": str,
    "http_version": str,
    "status": int,
    "body_bytes": int,
    "sha256": str,
    "error": str,
    **dict.fromkeys(("start_ns", "first_byte_ns", "last_byte_ns", "close_ns", "requests_held_back"), int),
    "address_change": dict.fromkeys(("last_byte_before_ns", "first_byte_after_ns", "body_bytes_again"), int),
}
CLIENT = {"requests": [_REQUEST], "versions": dict, "close_ns": int, "page": {"went_ns!": int}}
"""Form of a client's own account, client.json."""
_ADDRESSED = {"missed": [{"of!": str, "number!": int}]}
_SIDE = {
    **dict.fromkeys(("packets_in", "bytes_in", "delivered", "delivered_bytes", "marked", "corrupted"), int),
    "dropped": Each(int),
    "drop": _ADDRESSED,
    "spare": _ADDRESSED,
}
_LINK = {
    "sound": bool,
    "unsound_reasons": [str],
    "up": _SIDE,
    "down": _SIDE,
    "lateness": Each(Number),
    "more_links": [{"up": _SIDE, "down": _SIDE}],
}
_HOST = {
    "cost": Each({"transfer": Each(Number), "life": Each(Number)}),
    "counters": Each(Each(Number)),
    "stalled_ns": Each(Number),
}
_COMPETITION = {
    "began_ns!": int,
    "ended_ns!": int,
    "lasts_ns": int,
    "lost_in_hubs": int,
    "flows!": NotEmpty(
        {
            "label!": str,
            "protocol!": str,
            "server_address!": str,
            "server_port!": int,
            "arm+": str,
            "background+": str,
            "started_ns+": int,
        }
    ),
}
_PROOF = {
    **dict.fromkeys(("http_version", "transport", "alpn", "early_data"), str),
    "migrated": (bool, str),
    "answers": OrText([{"resumed+": bool, "early_data": str}]),
    "http_responses": OrText([dict]),
    **dict.fromkeys(("client_sockets", "alpn_offered"), OrText([str])),
    "ecn": OrText(Each(OrText(dict))),
    "versions": dict,
    "unproven_because": Each(str),
}
TRIAL = {
    **dict.fromkeys(
        (
            "started_utc",
            "boot_id",
            "protocol",
            "sender_program",
            "client_address",
            "server_address",
            "content",
            "failure",
            "own_failure",
            "void",
            "logs_left_out",
        ),
        str,
    ),
    **dict.fromkeys(("started_monotonic_ns", "ip_version", "server_port", "lateness_bound_ns"), int),
    "row": {**dict.fromkeys(_TEXTS_OF_ROW, str), "block": int, "position": int, "seed": (int, str)},
    "clock": Each(int),
    "expected": _EXPECTED,
    "asked": dict,
    "tolerated": Number,
    "disturbance": {
        **dict.fromkeys(("time_ns!", "cost_ns!", "most_ns!", "bound_ns!"), int),
        "parts": Each({"cost_ns!": int, "most_ns!": int}),
        "by": str,
    },
    "host": _HOST,
    "time_ns": Each(int),
    "link": _LINK,
    "links": [{"leg!": str, "packet_log!": str, "capture_client": str, "capture_server": str}],
    "second_link": {"packet_log!": str},
    "client": CLIENT,
    "proof": _PROOF,
    "proxy": dict,
    "probe": dict,
    "competition": _COMPETITION,
    "address_change": dict.fromkeys(("changed_ns+", "reached_ns+", "reached_bytes"), int),
    "tcp_congestion_controls_asked": Each(str),
}
