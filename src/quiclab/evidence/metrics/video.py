# SPDX-License-Identifier: Apache-2.0
"""Playback of a video: start, stalls, quality, how much was loaded, and how evenly it came."""

from __future__ import annotations

import statistics

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.expected_content import ExpectedVideo
from quiclab.model.tables import TABLES

_SECOND_NS = 10**9
_CONTENT_BYTES = 500
"""Packets from this size on carry content; acknowledgments and what ends a connection are smaller."""


def _video(evidence: Evidence) -> ExpectedVideo:
    """Video that was asked for. Raises Unknown where it was none."""
    if evidence.trial.expected.video is None:
        raise Unknown("the trial played no video")
    return evidence.trial.expected.video


def _rows(evidence: Evidence, table: str) -> pl.DataFrame:
    _video(evidence)
    rows = evidence.table(table)
    if rows.is_empty():
        raise Unknown("the player left no log")
    return rows


def _instant(evidence: Evidence, *names: str) -> int:
    """The first event of one of these names."""
    seen = _rows(evidence, "player_events").filter(pl.col("name").is_in(names))
    if seen.is_empty():
        raise Unknown(f"the player's log has no {' or '.join(names)}")
    return int(seen["time_ns"].min())  # type: ignore[arg-type]


def startup_ms(evidence: Evidence) -> float:
    """The video was asked for → its first picture was shown."""
    return (_instant(evidence, "first_frame", "playing") - _instant(evidence, "requested")) / 1e6


def _stalls(evidence: Evidence, cause: str | None = None) -> pl.DataFrame:
    _instant(evidence, "first_frame", "playing")  # a video that never started did not stall
    stalls = evidence.table("player_stalls")
    return stalls if cause is None else stalls.filter(pl.col("cause") == cause)


def stalls(evidence: Evidence) -> float:
    """Number of times that it stood still for want of data."""
    return _stalls(evidence, "network").height


def stall_ms(evidence: Evidence) -> float:
    """Total time of the stalls."""
    return float(_stalls(evidence, "network")["duration_ns"].sum()) / 1e6


def decoder_stalls(evidence: Evidence) -> float:
    """Number of times that it stood still with the data there."""
    return _stalls(evidence, "decoder").height


def played_s(evidence: Evidence) -> float:
    """Place in the video at the end: nothing is skipped."""
    return float(_rows(evidence, "player_samples")["position_ms"].max()) / 1e3  # type: ignore[arg-type]


def stalls_per_minute(evidence: Evidence) -> float:
    """Kakhki's rebuffers per time played."""
    played = played_s(evidence)
    if not played:
        raise Unknown("nothing was played")
    return stalls(evidence) * 60 / played


def stall_ratio_pct(evidence: Evidence) -> float:
    """Time of stalls over time played and stalled."""
    stalled = stall_ms(evidence) / 1e3
    if not played_s(evidence) + stalled:
        raise Unknown("nothing was played")
    return 100 * stalled / (played_s(evidence) + stalled)


def _length_ms(evidence: Evidence) -> float:
    length = _video(evidence).length
    if length is None:
        raise Unknown("the trial does not tell how long the video is")
    return length.ns / 1e6


def fraction_loaded_pct(evidence: Evidence) -> float:
    """Share of the video that was loaded, thrown away since or not: nothing is skipped."""
    reached = pl.max_horizontal("loaded_ms", pl.col("position_ms") + pl.col("ahead_ms"))
    loaded = float(_rows(evidence, "player_samples").select(reached.max()).item())
    return min(100.0, 100 * loaded / _length_ms(evidence))


def frames_dropped_pct(evidence: Evidence) -> float:
    """Share of dropped frames among those whose time had come."""
    last = _rows(evidence, "player_samples").tail(1)
    decoded, dropped = last["frames_decoded"][0], last["frames_dropped"][0]
    if not decoded:
        raise Unknown("nothing was decoded")
    return 100 * float(dropped) / float(decoded)


def _playing_samples(evidence: Evidence) -> pl.DataFrame:
    """Samples at which the position had moved on: what was shown since the sample before."""
    samples = _rows(evidence, "player_samples").sort("time_ns")
    shown = samples.with_columns(moved_ms=pl.col("position_ms").diff()).filter(
        pl.col("moved_ms") > 0, pl.col("height").is_not_null()
    )
    if shown.is_empty():
        raise Unknown("nothing was played")
    return shown


def mean_quality_bit_per_s(evidence: Evidence) -> float:
    """Bitrate of the quality that was shown, over the time that it was."""
    video = _video(evidence)
    rates = {int(each.height): float(each.bit_per_s) for each in video.representations}
    shown = _playing_samples(evidence)
    total = sum(rates.get(height, 0.0) * moved for height, moved in shown.select("height", "moved_ms").iter_rows())
    return float(total) / float(shown["moved_ms"].sum())


def switches(evidence: Evidence) -> float:
    """Number of times that the quality that was shown became another."""
    return int((_playing_samples(evidence)["height"].diff().fill_null(0) != 0).sum())


def _per_second(evidence: Evidence) -> list[int]:
    """Bits that arrived at the client in each whole second since its first packet, until the last with content in it.

    What comes later, of HTTP/2 the end of the connection, would add idle seconds to one transport and not to another.
    """
    _video(evidence)
    packets = evidence.packets("client", "down")
    if packets.is_empty():
        raise Unknown("the client's capture holds no packet from the server")
    second = ((pl.col("time_ns") - evidence.zero_ns) // _SECOND_NS).alias("second")
    bits = packets.group_by(second).agg(bits=pl.col("size_bytes").cast(pl.Int64).sum() * 8)
    by_second = dict(bits.iter_rows())
    content = packets.filter(pl.col("size_bytes") >= _CONTENT_BYTES).select(second)["second"]
    # The last one is not over when the browser, or the file, ends.
    whole = int(content.max() or 0)  # type: ignore[arg-type]
    if not whole:
        raise Unknown("it took less than a second")
    return [int(by_second.get(number, 0)) for number in range(whole)]


def video_throughput(evidence: Evidence) -> pl.DataFrame:
    """A row for each whole second; none where there was no video."""
    try:
        series = _per_second(evidence)
    except Unknown:
        series = []
    return pl.DataFrame({"second": range(len(series)), "bit_per_s": series}, schema=TABLES["video_throughput"].schema())


def throughput_bit_per_s(evidence: Evidence) -> float:
    """The mean of the seconds."""
    return statistics.fmean(_per_second(evidence))


def throughput_drops(evidence: Evidence) -> float:
    """Number of times that a second brought less than half of what was usual so far."""
    return drops(_per_second(evidence))


def drops(series: list[int]) -> int:
    """Seconds below half the median of all seconds before; a drop that lasts counts once."""
    found, below = 0, False
    for number in range(1, len(series)):
        now_below = series[number] < statistics.median(series[:number]) / 2
        found += now_below and not below
        below = now_below
    return found


def overall_throughput_bit_per_s(evidence: Evidence) -> float:
    """File length over the time of its download (Qin et al. 2023)."""
    size = _video(evidence).file_bytes
    if size is None:
        raise Unknown("only a video in one file has a length")
    name, requested_ns = _video(evidence).name, _instant(evidence, "requested")
    answers = evidence.table("http_requests").filter(
        pl.col("vantage") == "client", pl.col("url").str.ends_with(f"/{name}"), pl.col("last_byte_ns").is_not_null()
    )
    # A player may ask for the file in parts; each log or capture tells of all of them.
    for (_,), seen in answers.group_by("source", maintain_order=True):
        if int(seen["response_body_bytes"].sum()) >= size:
            last_byte_ns = int(seen["last_byte_ns"].max())  # type: ignore[arg-type]
            return float(size) * 8e9 / (last_byte_ns - requested_ns)
    raise Unknown(f"the file was not loaded whole: {fraction_loaded_pct(evidence):.0f} % of the video was")


VIDEO = (
    Metric(
        "startup_ms",
        "start-up time of the video",
        "ms",
        "lower",
        "The player was asked for a video to its first picture being shown.",
        startup_ms,
        heading="start-up",
    ),
    Metric(
        "stalls",
        "stalls of the video",
        "",
        "lower",
        "How often a video stood still after it had started, for want of data: less than a second of it was there.",
        stalls,
        heading="stalls",
    ),
    Metric(
        "stall_ms",
        "time that the video stalled",
        "ms",
        "lower",
        "How long these stalls lasted in all.",
        stall_ms,
        heading="stalled",
    ),
    Metric(
        "stall_ratio_pct",
        "share of the time that the video stalled",
        "%",
        "lower",
        "Time of these stalls over the time played and stalled.",
        stall_ratio_pct,
    ),
    Metric(
        "stalls_per_minute",
        "stalls per minute played",
        "1/min",
        "lower",
        "These stalls per minute of video played: rebuffers per time played (Kakhki et al. 2017, Table 6).",
        stalls_per_minute,
    ),
    Metric(
        "decoder_stalls",
        "stalls of the video's decoder",
        "",
        "lower",
        "How often a video stood still although its data was there: the processor was too slow to decode it, which is "
        "the machine's and not the network's.",
        decoder_stalls,
        heading="decoder's stalls",
    ),
    Metric(
        "frames_dropped_pct",
        "share of pictures dropped",
        "%",
        "lower",
        "Pictures that came from the decoder too late to be shown.",
        frames_dropped_pct,
    ),
    Metric(
        "played_s",
        "time of the video that was played",
        "s",
        "higher",
        "Seconds of the video that were played.",
        played_s,
    ),
    Metric(
        "fraction_loaded_pct",
        "fraction of the video loaded",
        "%",
        "higher",
        "Share of the video's length that was loaded when the time of watching was over (Kakhki et al. 2017, Table 6). "
        "A browser stops loading when it has enough ahead.",
        fraction_loaded_pct,
        heading="loaded",
    ),
    Metric(
        "mean_quality_bit_per_s",
        "mean quality of the video",
        "bit/s",
        "higher",
        "Nominal bitrate of the quality that was shown, weighted by how long.",
        mean_quality_bit_per_s,
        heading="quality",
    ),
    Metric(
        "quality_switches",
        "changes of the video's quality",
        "",
        "lower",
        "How often the quality that was shown became another.",
        switches,
        heading="switches",
    ),
    Metric(
        "throughput_bit_per_s",
        "throughput",
        "bit/s",
        "higher",
        "Mean of the whole seconds since the client's first packet, until content came for the last time, of IP "
        "packets that arrived at the client.",
        throughput_bit_per_s,
        heading="throughput",
    ),
    Metric(
        "throughput_drops",
        "sudden drops of the throughput",
        "",
        "lower",
        "How often a second brought less than half of the median of all seconds before it; seconds in a row count "
        "once (the sudden drops of Qin et al. 2023, Figure 3). A player that has enough and pauses drops too.",
        throughput_drops,
        heading="drops",
    ),
    Metric(
        "overall_throughput_bit_per_s",
        "overall throughput",
        "bit/s",
        "higher",
        "Length of a video's one file over the time in which it was loaded whole (Qin et al. 2023, section III).",
        overall_throughput_bit_per_s,
    ),
)
