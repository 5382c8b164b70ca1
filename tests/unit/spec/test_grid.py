# SPDX-License-Identifier: Apache-2.0
"""Grids: lists of values in paths and workloads, and what a spec that is written by hand would be."""

from __future__ import annotations

import itertools
import pathlib
import tomllib

import pytest
from specs import SMALL, changed, only_problem, problems_of, study_of, written

from quiclab.spec.paths import PATH_KEYS
from quiclab.spec.read import load_spec, read_study
from quiclab.spec.resolved import resolved_json
from quiclab.spec.toml_text import toml_text
from quiclab.spec.workloads import WORKLOAD_KEYS

_HEAD, _REST = SMALL[: SMALL.index("[[path]]")], SMALL[SMALL.index("[[arm]]") :]

MILLION = "\n".join(
    f"{key} = [{', '.join(repr(f'{n} {unit}') for n in range(first, first + 100))}]"
    for key, unit, first in (("rate", "Mbit/s", 1), ("delay", "ms", 1), ("loss", "%", 0))
)


def with_paths(text: str) -> str:
    """The small spec with other paths."""
    return f"{_HEAD}{text}\n{_REST}"


def by_hand(*tables: str) -> str:
    """Several paths as a spec without lists has them."""
    return with_paths("\n".join(f"[[path]]\n{table}\n" for table in tables))


def resolved(folder: pathlib.Path, text: str) -> dict[str, object]:
    """The resolved configuration of a spec."""
    return resolved_json(study_of(folder, text))


def test_a_grid_is_what_its_paths_would_be_by_hand(tmp_path: pathlib.Path) -> None:
    """All combinations, the first list slowest, are resolved to the same configuration, names and titles included."""
    grid = '[[path]]\nname = "base"\nrate = ["5 Mbit/s", "20 Mbit/s"]\nrtt = "40 ms"\nloss = ["0 %", "1 %"]'
    hand = [
        f'name = "base-{rate}mbit-{loss}pct"\ntitle = "base, {rate} Mbit/s, {loss} % loss"\nrate = "{rate} Mbit/s"\n'
        f'rtt = "40 ms"\nloss = "{loss} %"'
        for rate, loss in itertools.product((5, 20), (0, 1))
    ]
    assert resolved(tmp_path, with_paths(grid)) == resolved(tmp_path, by_hand(*hand))


def test_workloads_make_a_grid_too(tmp_path: pathlib.Path) -> None:
    """A list of sizes is a workload for each; those of one workload are still one value."""
    lists = changed(('name = "100KB"\nsize = "100 KB"', 'name = "get"\nsize = ["100 KB", "1 MB"]\ncount = [1, 4]'))
    names = [each.name for each in study_of(tmp_path, lists).workloads]
    assert names == ["get-100KB-1", "get-100KB-4", "get-1MB-1", "get-1MB-4"]
    mixed = changed(('size = "100 KB"', 'sizes = ["10 KB", "1 MB"]'))
    assert [len(each.object_sizes) for each in study_of(tmp_path, mixed).workloads] == [2]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ('[path.down]\nloss = ["0 %", "0.5 %"]', ["p-0pct", "p-0.5pct"]),
        ("[path.up]\nloss = [1, 2]", ["p"]),
        ('queue = ["1 bdp", "100 packets"]', ["p"]),
        ('queue = [["1 bdp"], ["4 bdp", "100 packets"]]', ["p-1bdp", "p-4bdp_100packets"]),
        ("mtu = [1400, 1500]\nip_version = [4, 6]", ["p-1400-4", "p-1400-6", "p-1500-4", "p-1500-6"]),
        ('jitter = {distribution = "normal", scale = ["1 ms", "5 ms"]}', ["p-1ms", "p-5ms"]),
        ('aqm = ["codel", "step"]', ["p-codel", "p-step"]),
    ],
)
def test_a_list_is_a_grid_where_one_value_is_wanted(tmp_path: pathlib.Path, lines: str, names: list[str]) -> None:
    """In tables of a path too; arrays that are a value by themselves stay one."""
    text = with_paths(f'[[path]]\nname = "p"\nrate = "10 Mbit/s"\n{lines}')
    assert [path.name for path in study_of(tmp_path, text).paths] == names


def test_links_of_a_path_have_lists(tmp_path: pathlib.Path) -> None:
    """A list of one of several links varies that one."""
    links = '[[path.link]]\nname = "air"\ndelay = ["5 ms", "50 ms"]\n[[path.link]]\nname = "core"\ndelay = "1 ms"'
    paths = study_of(tmp_path, with_paths(f'[[path]]\nname = "p"\n{links}')).paths
    assert [(path.name, path.base_rtt.ms) for path in paths] == [("p-5ms", 12), ("p-50ms", 102)]


def test_names_and_titles_may_be_given(tmp_path: pathlib.Path) -> None:
    """One for each combination, in their order."""
    text = with_paths(
        '[[path]]\nname = ["a", "b", "c", "d"]\ntitle = ["A", "B", "C", "D"]\nrate = ["5 Mbit/s", "9 Mbit/s"]\n'
        'loss = ["0 %", "1 %"]'
    )
    paths = study_of(tmp_path, text).paths
    assert [(path.name, path.title, str(path.down.rate), str(path.down.loss)) for path in paths] == [
        ("a", "A", "5 Mbit/s", "0 %"),
        ("b", "B", "5 Mbit/s", "1 %"),
        ("c", "C", "9 Mbit/s", "0 %"),
        ("d", "D", "9 Mbit/s", "1 %"),
    ]


def test_tables_in_a_list_have_given_names(tmp_path: pathlib.Path) -> None:
    """No short name can be made of a table."""
    models = 'loss = ["1 %", {model = "list", packets = [3]}]'
    paths = study_of(tmp_path, with_paths(f'[[path]]\nname = ["some", "one"]\n{models}')).paths
    assert [(path.name, path.title, str(path.down.loss)) for path in paths] == [
        ("some", "some", "1 %"),
        ("one", "one", "1 listed packets"),
    ]


def test_profiles_in_a_list_keep_their_titles(tmp_path: pathlib.Path) -> None:
    """Paths of a map must be told apart."""
    text = with_paths('[[path]]\nname = "p"\nprofile = ["lte", "dsl"]\n[path.down]\nloss = ["0 %", "1 %"]')
    titles = [path.title for path in study_of(tmp_path, text).paths]
    assert titles[1] == "LTE, 29.5/7.6 Mbit/s, 21 ms, 1 % loss down"
    assert len(set(titles)) == 4


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("rate = []", ["path[p].rate", "the list is empty"]),
        ('rate = ["5 Mbit/s", "5000 kbit/s"]', ["path[p].rate[#2]", "the same value", "write each value once"]),
        ("mtu = [1500, 1500]", ["path[p].mtu[#2]", "stands in this list before"]),
        ('rate = [["5 Mbit/s"], "6 Mbit/s"]', ["path[p].rate[#1]", "an array stands here; write a rate"]),
        ('rate = ["5 Mbit/s", "6 parsecs"]', ["path[p].rate[#2]", "parsecs", "not a rate"]),
        ('rate = ["5 Mbit/s", 6]', ["path[p].rate[#2]", "6 is a whole number"]),
        ('queue = ["1 bdp", "4 bdp"]', ["path[p].queue", "two bounds of the same unit", '[["1 bdp"], ["4 bdp"]]']),
        ('name = ["a", "b"]\nrate = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"]', [".name", "there are 2", "3 combinations"]),
        ('loss = [{model = "bernoulli", probability = "1 %"}, "0 %"]', ["path[p].name", "write name ="]),
        (f'name = "{"p" * 60}"\nmtu = [1400, 1500]', ["].name", "2 combinations of mtu", "write name ="]),
        (
            MILLION,
            ["path[p]: its lists make 1000000 combinations; at most 1000 are possible"],
        ),
    ],
)
def test_a_wrong_list_is_one_problem(tmp_path: pathlib.Path, lines: str, told: list[str]) -> None:
    """At its line, and at the value that is wrong; however many tables the other lists make."""
    name = "" if "name =" in lines else 'name = "p"\n'
    others = "" if "name" in told[0] or "delay" in lines else 'delay = ["1 ms", "2 ms", "3 ms"]\n'
    problem = only_problem(tmp_path, with_paths(f"[[path]]\n{name}{others}{lines}"))
    assert all(part in problem for part in told), problem


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seed = 7", "seed = [7, 8]", ["study.seed", "an array stands here"]),
        ("blocks = 4", "blocks = [4, 8]", ["study.blocks", "an array stands here"]),
        (
            "tcp = {congestion_control",
            "tcp = {sack = [true, false], congestion_control",
            ["tcp.sack", "an array stands"],
        ),
        ('protocol = "h3"', 'protocol = ["h3", "h2"]', ["arm[h3].protocol", "an array stands here"]),
    ],
)
def test_lists_have_no_meaning_elsewhere(tmp_path: pathlib.Path, old: str, new: str, told: list[str]) -> None:
    """Lists of programs alone make a grid in an arm."""
    problem = only_problem(tmp_path, changed((old, new)))
    assert all(part in problem for part in told), problem


def test_a_wrong_path_of_a_grid_has_the_line_of_its_table(tmp_path: pathlib.Path) -> None:
    """Lines are those of the file, whatever stands before in it as a list."""
    grid = '[[path]]\nname = "p"\nrate = ["5 Mbit/s", "6 Mbit/s"]\n'
    text = with_paths(f'{grid}[[path]]\nname = "p-6mbit"\nrate = "1 Mbit/s"\n')
    line = 1 + text[: text.index('name = "p-6mbit"')].count("\n")
    first = 1 + text[: text.index("[[path]]")].count("\n")
    assert problems_of(tmp_path, text) == (
        f'line {line}: path[p-6mbit].name: "p-6mbit" is already the name of the one in line {first}; names are unique',
    )


def test_a_grid_stays_a_grid_in_no_other_document(tmp_path: pathlib.Path) -> None:
    """What is written anew from a spec has its paths one by one, and is the same study."""
    spec = written(tmp_path, with_paths('[[path]]\nname = "p"\nrate = ["5 Mbit/s", "6 Mbit/s"]\nloss = ["0 %", "1 %"]'))
    document = load_spec(spec).document
    assert [table["rate"] for table in document["path"]] == ["5 Mbit/s"] * 2 + ["6 Mbit/s"] * 2
    again = tmp_path / "again.toml"
    again.write_text(toml_text(document), encoding="utf-8")
    assert tomllib.loads(again.read_text(encoding="utf-8")) == document
    assert resolved_json(read_study(again)) == resolved_json(read_study(spec))


def test_two_grids_of_too_many_cells_are_refused(tmp_path: pathlib.Path) -> None:
    """Each list is short enough; the matrix of both is not."""
    sizes, delays = (", ".join(f'"{n} {unit}"' for n in range(1, 103)) for unit in ("KB", "ms"))
    text = changed(('size = "100 KB"', f"size = [{sizes}]"), ('delay = "10 ms"', f"delay = [{delays}]"))
    assert "102 workloads over 102 paths are 10404 cells; at most 10000" in only_problem(tmp_path, text)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [("path", 'name = "p"\nrate = "10 Mbit/s"\n'), ("workload", 'name = "w"\nsize = "1 KB"\n')],
)
def test_an_empty_list_is_one_mistake_behind_every_key(tmp_path: pathlib.Path, kind: str, lines: str) -> None:
    """The key is not told as missing or as of the wrong kind, too, however many tables another list makes."""
    keys = {"path": PATH_KEYS, "workload": WORKLOAD_KEYS}[kind]
    for key in keys:
        if key in ("name", "only_for", "loss", "schedule"):
            continue  # names are no factor, and no lost packet and no change are values
        rest = "".join(f"{line}\n" for line in lines.splitlines() if not line.startswith(f"{key} ="))
        table = f"[[{kind}]]\n{rest}{key} = []\n"
        others = [each for each in ("path", "workload") if each != kind]
        text = _HEAD[: _HEAD.index("[[workload]]")] + table + "".join(map(_small, others)) + _REST
        problems = problems_of(tmp_path, text)
        assert sum(f".{key}" in each for each in problems) == 1, problems
        assert not any("missing" in each for each in problems), problems


def _small(kind: str) -> str:
    return {"path": '[[path]]\nname = "p"\n', "workload": '[[workload]]\nname = "w"\nsize = "1 KB"\n'}[kind]


def test_a_mistake_of_every_variant_is_told_once(tmp_path: pathlib.Path) -> None:
    """Tables that lists stand for have their mistakes in common: each of them is unusable."""
    lists = 'mtu = [1400, 1500]\nprofile = [["lte"], "x"]'
    text = with_paths(f'[[path]]\nname = "p"\nloss = {{model = "bernoulli"}}\n{lists}')
    problems = problems_of(tmp_path, text)
    assert sum("probability" in each for each in problems) == 1, problems
    assert any("profile[#1]" in each for each in problems), problems
    assert any("profile[#2]" in each for each in problems), problems
