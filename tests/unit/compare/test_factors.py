# SPDX-License-Identifier: Apache-2.0
"""The metric along one factor: no cell is lost, however many other factors vary."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import Shape, write_study
from trial_records import part

from quiclab.compare import path_asked
from quiclab.compare.analyse import analyse_study
from quiclab.compare.factor_lines import Entry, Line, lines
from quiclab.compare.factors import factor, factors_of, leading, varying
from quiclab.compare.study import read_study
from quiclab.model.errors import SpecError
from quiclab.model.resolved_record import ResolvedPath, ResolvedWorkload

ARMS = ("h2", "h3")


def way(rate: float | None = 10, delay: float = 10, loss: float = 0, **more: Any) -> dict[str, Any]:
    """One direction of a link: Mbit/s, ms, per cent."""
    model = {"model": "bernoulli", "probability_pct": loss} if loss else None
    return {"rate_bit_per_s": rate and rate * 1e6, "delay_ns": delay * 1e6, "loss": model} | more


def path(name: str, up: dict[str, Any] | None = None, *more: dict[str, Any], **both: Any) -> dict[str, Any]:
    """A path whose links are the same in both directions, or whose first has another way up."""
    links = [{"up": each, "down": each} for each in more]
    return {"name": name, "title": name, "up": up or way(**both), "down": way(**both), "more_links": links}


def paths_of(tables: Iterable[dict[str, Any]]) -> list[ResolvedPath]:
    """Records of these paths."""
    return [part(each, ResolvedPath) for each in tables]


def studied(directory: Path, paths: Iterable[dict[str, Any]], workloads: tuple[str, ...] = ("1 MB",)) -> Path:
    """A study over these paths."""
    entries = list(paths)
    names = tuple(entry["name"] for entry in entries)
    shape = Shape(workloads, names, 2, 0, frozenset(), frozenset(), resolved={"paths": entries})
    return write_study(directory, shape)


def gathered(directory: Path, name: str | None = None) -> pl.DataFrame:
    """The figure's table."""
    return factor(read_study(directory), analyse_study(directory), name)


def all_cells(directory: Path) -> set[tuple[str, float]]:
    """(arm, median) of every cell: the times of no two are the same."""
    return {
        (arm.arm, arm.median or 0.0)
        for comparison in analyse_study(directory).comparisons
        for arm in (comparison.baseline, comparison.other)
    }


def points(data: pl.DataFrame) -> list[tuple[str, float]]:
    """(arm, median) of every mark."""
    return list(data.select("arm", "median").rows())


def test_two_factors_of_the_path_leave_every_cell_on_the_figure(tmp_path: Path) -> None:
    """Three rates by two delays by two sizes: 12 cells, of two arms each, along whichever factor."""
    paths = [path(f"r{rate} d{delay}", rate=rate, delay=delay) for rate in (5, 10, 50) for delay in (18, 56)]
    directory = studied(tmp_path, paths, ("100 KB", "1 MB"))
    assert len(all_cells(directory)) == 24
    for name, values, panels in (("rate", 3, 4), ("rtt", 2, 6), ("size", 2, 6)):
        data = gathered(directory, name)
        assert sorted(points(data)) == sorted(all_cells(directory))
        assert data["panel"].n_unique() == panels
        assert set(data.group_by("panel", "arm").len()["len"]) == {values}
        assert not data.select("panel", "arm", "x").is_duplicated().any()
    assert set(gathered(directory, "rate")["panel"]) == {
        f"{size}, {rtt} ms RTT" for size in ("100 KB", "1 MB") for rtt in (36, 112)
    }


def test_three_factors_of_the_path_leave_every_cell_on_the_figure(tmp_path: Path) -> None:
    """Two rates by three losses by two delays; a line holds all others fixed, and says at what."""
    levels = list(itertools.product((5, 50), (0, 2, 4), (18, 56)))
    paths = [path(f"p{number}", rate=rate, loss=loss, delay=delay) for number, (rate, loss, delay) in enumerate(levels)]
    directory = studied(tmp_path, paths)
    for name, values, panels in (("rate", 2, 6), ("loss", 3, 4), ("rtt", 2, 6)):
        data = gathered(directory, name)
        assert sorted(points(data)) == sorted(all_cells(directory))
        assert data["panel"].n_unique() == panels
        assert set(data.group_by("panel", "arm").len()["len"]) == {values}
    assert "50 Mbit/s, 112 ms RTT" in set(gathered(directory, "loss")["panel"])


def test_what_no_number_tells_is_a_line_of_its_own(tmp_path: Path) -> None:
    """A managed queue: two paths of the same rate, delay and loss are two marks, their panels have different names."""
    aqm = {"model": "codel"}
    paths = [path(f"{rate} Mbit/s", rate=rate) for rate in (5, 50)]
    paths += [path(f"{rate} Mbit/s, managed", rate=rate, aqm=aqm) for rate in (5, 50)]
    directory = studied(tmp_path, paths)
    data = gathered(directory)
    assert sorted(points(data)) == sorted(all_cells(directory))
    assert data["panel"].unique(maintain_order=True).to_list() == ["as in “50 Mbit/s”", "managed"]


def test_the_corners_of_a_matrix_are_marks_without_a_line(tmp_path: Path) -> None:
    """Loss and delay change together: nothing can be followed, no factor leads, and no cell is lost for it."""
    directory = studied(tmp_path, [path("near"), path("far", delay=50, loss=4)])
    found = factors_of(read_study(directory), analyse_study(directory))
    assert set(found) == {"rtt", "loss"}
    assert leading(found) == []
    data = gathered(directory, "loss")
    assert sorted(points(data)) == sorted(all_cells(directory))
    assert set(data["panel"]) == {"20 ms RTT", "100 ms RTT"}


def test_paths_of_several_links_have_one_number_each(tmp_path: Path) -> None:
    """Delays add up over links and directions, losses combine, and the least rate counts."""
    far = way(rate=100, delay=5, loss=10)
    entries = [path("one", None, far, rate=10, delay=20, loss=10), path("two", None, far, rate=200, delay=50)]
    found = varying(paths=paths_of(entries))
    assert found["rtt"] == {"one": 50.0, "two": 110.0}
    assert found["loss"] == {"one": pytest.approx(19.0), "two": 10.0}
    assert found["rate"] == {"one": 10.0, "two": 100.0}
    assert "loss_up" not in found  # it says nothing that the way down does not


def test_the_way_up_is_a_factor_where_it_changes_by_itself(tmp_path: Path) -> None:
    """Loss both ways, and down only: two lines, that share the path without loss."""
    both = [path(f"{loss} %", loss=loss) for loss in (0, 4, 12)]
    down = path("12 %, down only", way(), loss=12)
    directory = studied(tmp_path, [*both, down])
    found = varying(paths=paths_of([*both, down]))
    assert found["loss_up"] == {"0 %": 0.0, "4 %": 4.0, "12 %": 12.0, "12 %, down only": 0.0}
    along = factors_of(read_study(directory), analyse_study(directory))["loss"]
    assert [list(line.entries.values()) for line in along] == [["0 %", "12 %, down only"], ["0 %", "4 %", "12 %"]]
    assert along[0].title == "0 % loss up"
    assert set(points(gathered(directory, "loss"))) == all_cells(directory)


def test_what_has_no_place_on_the_axis_is_named(tmp_path: Path) -> None:
    """Bursts have no single probability, and a rate that changes is none."""
    burst = path("bursts") | {"down": way() | {"loss": {"model": "bursts"}}}
    directory = studied(tmp_path, [path("none"), path("some", loss=1), burst])
    data = gathered(directory, "loss")
    assert set(data["left_out"]) == {"not shown, as they have no single number on this axis: bursts"}
    changing = path("x") | {"down": way() | {"schedule": [{"at_ns": 1, "rate_bit_per_s": 1e6}]}}
    assert "x" not in varying(paths=paths_of([path("a", rate=1), path("b", rate=2), changing]))["rate"]


def test_objects_of_one_size_are_followed_along_their_count() -> None:
    """Their bytes in all grow with them, and hold nothing fixed."""
    names = [(f"{count}x{size}", size, count) for count in (1, 10) for size in (10_000, 200_000)]
    tables = [{"name": name, "size_bytes": size, "count": count} for name, size, count in names]
    workloads = [part(each, ResolvedWorkload) for each in tables]
    entries = [Entry(*each) for each in zip(workloads, tables, strict=True)]
    values = varying(workloads=workloads)["count"]
    assert lines("count", entries, values, {}) == [
        Line({1: "1x10000", 10: "10x10000"}, "10 KB each"),
        Line({1: "1x200000", 10: "10x200000"}, "200 KB each"),
    ]


def test_settings_that_no_number_tells_apart_are_two_marks_all_the_same() -> None:
    """The same round trip, once the long way up and once the long way down: neither hides the other."""
    tables = [path("a", delay=10), path("up", way(delay=30)), path("down", way(delay=10), delay=30)]
    entries = [Entry(*each) for each in zip(paths_of(tables), tables, strict=True)]
    along = lines("rtt", entries, varying(paths=paths_of(tables))["rtt"], {})
    assert sorted(name for line in along for name in line.entries.values()) == ["a", "down", "up"]


def test_several_factors_are_asked_for(tmp_path: Path) -> None:
    """Where more than one leads somewhere, one has to be named."""
    paths = [path(f"r{rate} l{loss}", rate=rate, loss=loss) for rate in (5, 10) for loss in (0, 1)]
    with pytest.raises(SpecError, match="several factors vary"):
        gathered(studied(tmp_path, paths))


def test_queue_jitter_and_mtu_are_factors(tmp_path: Path) -> None:
    """A grid of each is followed along its own axis, while the others are held fixed."""
    levels = list(itertools.product((1, 4), (1, 5), (1400, 1500)))
    paths = [
        path(f"p{number}", queue={"bdp": bdp}, jitter={"distribution": "normal", "scale_ns": scale * 1e6})
        | {"mtu": mtu}
        for number, (bdp, scale, mtu) in enumerate(levels)
    ]
    directory = studied(tmp_path, paths)
    for name, values in (("queue", [1, 4]), ("jitter", [1, 5]), ("mtu", [1400, 1500])):
        data = gathered(directory, name)
        assert sorted(points(data)) == sorted(all_cells(directory))
        assert sorted(set(data["x"])) == values
        assert data["panel"].n_unique() == 4
    assert "4 BDP queue, MTU 1500 bytes" in set(gathered(directory, "jitter")["panel"])


def test_jitter_of_another_shape_is_no_point_of_the_same_line(tmp_path: Path) -> None:
    """The scale alone is the factor; a path without jitter has none."""
    shapes = [("normal", 1), ("normal", 5), ("uniform", 9)]
    jittered = [path(f"{shape} {ms}", jitter={"distribution": shape, "scale_ns": ms * 1e6}) for shape, ms in shapes]
    directory = studied(tmp_path, [path("quiet"), *jittered])
    found = factors_of(read_study(directory), analyse_study(directory))["jitter"]
    assert [list(line.entries) for line in found] == [[1, 5], [9]]


@pytest.mark.parametrize("queue", [{"bdp": 1, "packets": 50}, {"packets": 50}, {"time_ns": 10_000_000}])
def test_a_queue_with_another_bound_has_no_number_of_bdp(queue: dict[str, int]) -> None:
    """It would stand at a place on the axis that is not its own."""
    of = path_asked.queue_bdp
    assert of(part(path("bounded", queue=queue), ResolvedPath)) is None
    assert of(part(path("changes", queue={"bdp": 1}, schedule=[{"queue": {"bdp": 2}}]), ResolvedPath)) is None
    assert of(part(path("plain", queue={"bdp": 2}), ResolvedPath)) == 2


def test_objects_at_once_are_a_factor() -> None:
    """Workloads that differ in their concurrency are on one axis."""
    workloads = [
        part({"name": f"{n}", "size_bytes": 1000, "count": 8, "concurrency": n}, ResolvedWorkload) for n in (1, 8)
    ]
    assert varying(workloads) == {"concurrency": {"1": 1.0, "8": 8.0}}
