# SPDX-License-Identifier: Apache-2.0
"""The handshake by round trips, all arms below each other."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._reason_style import ink, marker
from quiclab.report.figures._series import start_ns, transfer_rows
from quiclab.why.account import Why

_STEPS = {
    "TCP": Why.TCP_HANDSHAKE,
    "TLS": Why.TLS_ROUND_TRIP,
    "QUIC and TLS": Why.QUIC_HANDSHAKE,
    "HelloRetryRequest": Why.HELLO_RETRY_REQUEST,
    "Retry": Why.RETRY,
    "QUIC, 0-RTT": Why.QUIC_HANDSHAKE,
    "Version Negotiation": Why.RETRY,
}
"""Purpose of a round trip → the wait of the timeline whose look it has."""
_REST = "request and response"

_SCHEMA = {**dict.fromkeys(("arm", "step", "messages"), pl.String), "begin_ms": pl.Float64, "end_ms": pl.Float64}
_TOLD_BY = {
    "hello_retry_request": "HelloRetryRequest",
    "retry": "Retry",
    "version_negotiation": "Version Negotiation",
    "syn": "TCP",
}
"""The message that tells what a round trip is for, the first that occurs."""


class Handshake(Figure):
    """A bar per round trip, with its name in it, and a mark per message: up from the client, down to it."""

    name = "handshake"
    question = "Which round trips pass before the first byte of the response, and what is each of them for?"
    where = Where.PAIR
    tables = ("tables/handshake/*.parquet", "tables/link_packets/*.parquet", "metrics.parquet")
    columns: ClassVar = {
        "arm": "a row each, the baseline first",
        "step": "what it is for: TCP, TLS, QUIC and TLS, QUIC with 0-RTT, HelloRetryRequest, Retry, or the request",
        "begin_ms": "when it begins, since the client's first packet, ms",
        "end_ms": "when the next one begins; of the last, when the first byte of the response came, ms",
        "messages": "its messages with their instants at the client, a line each",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Round trips up to the client's Finished, then the rest up to the first byte of the response."""
        firsts = asked.study.metrics.filter((pl.col("name") == "ttfb_ms") & pl.col("value").is_finite())
        first_byte_ms = dict(firsts.select("trial_id", "value").iter_rows())
        rows: list[dict[str, object]] = []
        for arm, trial_id in asked.chosen().trials.items():
            steps, zero_ns = asked.study.trial_table("handshake", trial_id), start_ns(asked.study, trial_id)
            if steps is not None and zero_ns is not None:
                own = transfer_rows(steps.filter(pl.col("vantage") == "client"), zero_ns)
                rows += _rounds(arm, _first_connection(own), zero_ns, first_byte_ms.get(trial_id))
        return pl.DataFrame(rows, schema=_SCHEMA)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per round trip."""
        figure = go.Figure()
        names = {arm: _style.arm_name(arm, style) for arm, style in _style.arms(data)}
        for step in (*_STEPS, _REST):
            rounds = data.filter(pl.col("step") == step)
            if not rounds.height:
                continue
            figure.add_bar(
                y=[names[arm] for arm in rounds["arm"]],
                base=rounds["begin_ms"].to_list(),
                x=(rounds["end_ms"] - rounds["begin_ms"]).to_list(),
                orientation="h",
                name=step,
                marker={"color": _style.BLANK, "line": {"color": _style.BLANK_TEXT, "width": 1}}
                if step == _REST
                else marker(_STEPS[step].style),
                text=[f"{step}<br>{end - begin:.4g} ms" for begin, end in rounds.select("begin_ms", "end_ms").rows()],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                insidetextfont={"size": 11} if step == _REST else {"size": 11, "color": ink(_STEPS[step].style)},
                customdata=[_style.text(messages).replace("\n", "<br>") for messages in rounds["messages"]],
                hovertemplate="%{base:.5g} ms, for %{x:.5g} ms<br>%{customdata}<extra>%{y}, " + step + "</extra>",
            )
        figure.update_layout(_style.with_legend(110 + 58 * len(names)), barmode="overlay", bargap=0.3)
        figure.update_layout(uniformtext={"minsize": 10, "mode": "hide"})  # a name that has no room is in the legend
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(automargin=True, type="category", categoryarray=list(names.values()), autorange="reversed")
        return figure


def _first_connection(steps: pl.DataFrame) -> pl.DataFrame:
    """Return the messages of the earliest connection, by the source that tells most of them."""
    if not steps.height:
        return steps
    own = steps.filter(pl.col("connection") == steps.sort("time_ns")["connection"][0])
    told = own.group_by("source").agg(pl.len().alias("told")).sort("told", "source", descending=[True, False])
    return own.filter(pl.col("source") == told["source"][0]).sort("time_ns")


def _rounds(arm: str, steps: pl.DataFrame, zero_ns: int, first_byte_ms: float | None) -> list[dict[str, object]]:
    """Rows of the round trips. The client's Finished ends the handshake: with it, the request leaves."""
    instants = steps.with_columns(x_ms=(pl.col("time_ns") - zero_ns) / 1e6)
    done = instants.filter((pl.col("step") == "finished") & (pl.col("direction") == "up"))["x_ms"].max()
    end_ms = float(done) if isinstance(done, int | float) else instants["x_ms"].max()
    if not isinstance(end_ms, float):
        return []
    before = instants.filter(pl.col("round_trip").is_not_null() & (pl.col("x_ms") <= end_ms))
    last = before["round_trip"].max()
    begins: list[tuple[float, pl.DataFrame]] = []
    for (number,), messages in before.group_by("round_trip", maintain_order=True):
        if number != last or not begins or len(set(messages["step"]) - {"finished", "certificate"}):
            begin = 0.0 if not begins else float(messages["x_ms"].min())  # type: ignore[arg-type]
            begins.append((begin, messages))
    ends = [*(begin for begin, _ in begins[1:]), end_ms]
    rows: list[dict[str, object]] = [
        {"arm": arm, "step": _step(messages), "begin_ms": begin, "end_ms": end, "messages": _hover_text(messages)}
        for (begin, messages), end in zip(begins, ends, strict=True)
        if end > begin
    ]
    if first_byte_ms is not None and first_byte_ms > end_ms:
        later = instants.filter((pl.col("x_ms") >= end_ms) & (pl.col("x_ms") <= first_byte_ms))
        rest = {"arm": arm, "step": "request and response", "messages": _hover_text(later)}
        rows.append(rest | {"begin_ms": end_ms, "end_ms": first_byte_ms})
    return rows


def _step(messages: pl.DataFrame) -> str:
    seen = set(messages["step"])
    accepted = messages.filter((pl.col("step") == "encrypted_extensions") & (pl.col("direction") == "down"))["detail"]
    if any('"early_data":true' in (detail or "") for detail in accepted):
        return "QUIC, 0-RTT" if messages["transport"][0] == "quic" else "TLS"
    told = next((name for step, name in _TOLD_BY.items() if step in seen), None)
    return told or ("TLS" if messages["transport"][0] == "tcp" else "QUIC and TLS")


def _hover_text(messages: pl.DataFrame) -> str:
    rows = messages.select("x_ms", "direction", "step").iter_rows()
    return "\n".join(f"{x_ms:.2f} ms {direction}: {step}" for x_ms, direction, step in rows)
