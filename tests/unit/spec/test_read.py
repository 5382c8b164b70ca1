# SPDX-License-Identifier: Apache-2.0
"""Reading a whole spec: defaults, every offender at once with its line, and what is told about each."""

from __future__ import annotations

import os
import pathlib
import random
import re

import pytest
from specs import SMALL, changed, only_problem, problems_of, study_of, with_path, written

from quiclab.model.errors import ExitCode, SpecError
from quiclab.model.study import AaControl, Limits
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.read import read_study

DEMO = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "demo" / "spec.toml"


def test_the_demo_says_what_it_compares() -> None:
    """Three sizes over three networks, both arms the same programs, TCP pinned to what Caddy's QUIC is closest to."""
    study = read_study(DEMO)
    assert [workload.size for workload in study.workloads] == [ByteCount(10**5), ByteCount(10**6), ByteCount(5 * 10**6)]
    assert [path.base_rtt for path in study.paths] == [Duration(n * 10**6) for n in (20, 20, 120)]
    assert {path.down.rate for path in study.paths} == {Bitrate(10**7)}
    assert [(arm.tcp.congestion_control, arm.tcp.initial_window) for arm in study.arms] == [("reno", 32)] * 2
    assert (study.baseline, study.aa) == ("h2", AaControl("100KB", "plain", study.blocks))


def test_a_small_spec_is_filled_with_defaults(tmp_path: pathlib.Path) -> None:
    """The baseline is the first h2 arm, the A/A cell the cheapest, the title the name."""
    study = study_of(tmp_path)
    assert study.baseline == "h2"
    assert study.aa == AaControl("100KB", "plain", 0)
    assert study.limits == Limits()
    assert study.paths[0].title == "plain"
    assert (study.alpha, study.captures) == (0.05, "whole")


def test_the_baseline_is_an_h2_arm_wherever_it_stands(tmp_path: pathlib.Path) -> None:
    """With h3 listed first, h2 is still what the others are compared with."""
    arms = SMALL[SMALL.index("[[arm]]") :]
    first, second = arms[: arms.index("[[arm]]", 1)], arms[arms.index("[[arm]]", 1) :]
    assert study_of(tmp_path, SMALL.replace(arms, second + first)).baseline == "h2"


def test_the_aa_cell_is_the_smallest_object_on_the_first_path(tmp_path: pathlib.Path) -> None:
    """It need not be listed first; parts that are given stay."""
    larger_first = ("[[workload]]\n", '[[workload]]\nname = "big"\nsize = "5 MB"\n\n[[workload]]\n')
    assert study_of(tmp_path, changed(larger_first)).aa == AaControl("100KB", "plain", 0)
    given = changed(larger_first, ("blocks = 4\n", 'blocks = 4\naa = {workload = "big", blocks = 2}\n'))
    assert study_of(tmp_path, given).aa == AaControl("big", "plain", 2)


def test_the_metric_is_a_name(tmp_path: pathlib.Path) -> None:
    """Which metrics there are, the analysing side knows; the usual one is left to the report."""
    assert study_of(tmp_path).metric is None
    assert study_of(tmp_path, changed(("blocks = 4\n", 'blocks = 4\nmetric = "setup_ms"\n'))).metric == "setup_ms"
    told = only_problem(tmp_path, changed(("blocks = 4\n", 'blocks = 4\nmetric = "set up"\n')))
    assert '"set up" cannot be a name' in told


def test_an_object_may_be_empty(tmp_path: pathlib.Path) -> None:
    """Size 0 is a work too: the set-up alone."""
    assert study_of(tmp_path, changed(('"100 KB"', '"0 B"'))).workloads[0].size == ByteCount(0)


def test_limits_are_read(tmp_path: pathlib.Path) -> None:
    """What is not given keeps its default."""
    limits = study_of(tmp_path, SMALL + '[limits]\ntrial = "2 min"\nattempts = 2\n').limits
    assert limits == Limits(trial=Duration(120 * 10**9), attempts=2)


OFFENDERS = [
    # (what to replace, with what, line of the offender, what must be said)
    ('name = "small"', 'name = "s/mall"', 2, ["study.name", '"s/mall"', "letters, digits, dots"]),
    ("seed = 7", "seed = -7", 3, ["study.seed", "-7", "from 0 to"]),
    ("seed = 7", 'seed = "7"', 3, ["study.seed", "is a string", "whole number"]),
    ("seed = 7", "sead = 7", 3, ["study.sead", 'did you mean "seed"?']),
    ("seed = 7", "", 1, ["study", '"seed" is missing']),
    ("blocks = 4", "blocks = 0", 4, ["study.blocks", "from 1 to"]),
    ("blocks = 4", "blocks = true", 4, ["study.blocks", "true stands here", "whole number"]),
    ("blocks = 4", "blocks = 4.5", 4, ["study.blocks", "4.5 is a number", "whole number"]),
    ("blocks = 4", "blocks = 4\nalpha = 1", 5, ["study.alpha", "above 0 and below 1"]),
    ("blocks = 4", "blocks = 4\nalpha = nan", 5, ["study.alpha", "above 0 and below 1"]),
    ("blocks = 4", 'blocks = 4\nmatters = "0 %"', 5, ["study.matters", "above 0 % and below 100 %"]),
    ("blocks = 4", "blocks = 4\nmatters = 0.02", 5, ["study.matters", "is a number", "a share from 0 %"]),
    ("blocks = 4", 'blocks = 4\nbaseline = "h22"', 5, ["study.baseline", '"h22"', 'did you mean "h2"?']),
    ("blocks = 4", 'blocks = 4\nbaseline = "quic"', 5, ["study.baseline", "valid arms: h2, h3"]),
    ("blocks = 4", 'blocks = 4\ncaptures = "yes"', 5, ["study.captures", "valid values: whole, headers"]),
    ("blocks = 4", 'blocks = 4\naa = {path = "plane"}', 5, ["study.aa.path", 'did you mean "plain"?']),
    ("blocks = 4", 'blocks = 4\naa = "plain"', 5, ["study.aa", "is a string", "a table with workload, path, blocks"]),
    ('size = "100 KB"', 'size = "-1 KB"', 8, ["workload[100KB].size", '"-1 KB"', "from 0 B to 1000 GB"]),
    ('size = "100 KB"', "size = 100000", 8, ["workload[100KB].size", "100000 is a whole number", '"100 KB"']),
    ('size = "100 KB"', 'size = "100 Kb"', 8, ["workload[100KB].size", "'100 Kb' is not a size", "KiB"]),
    ('size = "100 KB"', 'size = "1e999999999999999999 KB"', 8, ["workload[100KB].size"]),
    ('name = "100KB"\n', "", 6, ["workload[#1]", '"name" is missing']),
    ('rate = "10 Mbit/s"', 'rate = "-10 Mbit/s"', 12, ["path[plain].rate", "from 1 bit/s to 1000 Gbit/s"]),
    ('rate = "10 Mbit/s"', 'rate = "10 Mbyte/s"', 12, ["path[plain].rate", "Mbit/s"]),
    ('rate = "10 Mbit/s"', 'rte = "10 Mbit/s"', 12, ["path[plain].rte", 'did you mean "rate"?']),
    ('delay = "10 ms"', 'delay = "10 ms"\nloss = "120 %"', 14, ["path[plain].loss", "'120 %'", "0 % and 100 %"]),
    ('delay = "10 ms"', 'delay = "10 ms"\nip_version = 6\nmtu = 1200', 15, ["path[plain].mtu", "1280"]),
    ('delay = "10 ms"', 'delay = "10 ms"\nmtu = 1200', 14, ["path[plain].mtu", "1228", "RFC 9000"]),
    ('delay = "10 ms"', 'delay = "10 ms"\ntrace = "no.trace"', 14, ["path[plain].trace", "no file", "no.trace"]),
    ('protocol = "h2"', 'protocol = "http2"', 17, ["arm[h2].protocol", '"http2"', "valid values: h1, h2, h3"]),
    ('protocol = "h2"', 'protocol = ["h2"]', 17, ["arm[h2].protocol", "an array stands here", '"h2" or "h3"']),
    ("tcp = {congestion", "tpc = {congestion", 20, ["arm[h2].tpc", 'did you mean "tcp"?']),
    ('"reno"', '"rneo"', 20, ["arm[h2].tcp.congestion_control", 'did you mean "reno"?']),
    ('{congestion_control = "reno"}', "{}", 20, ["arm[h2].tcp", '"congestion_control" is missing']),
    ('[[workload]]', '[[workloads]]', 6, ["workloads", 'did you mean "workload"?']),
    ('[[workload]]', '[workload]', 6, ["workload", "write [[workload]] with two brackets"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), OFFENDERS)
def test_an_offender_is_named_with_line_key_and_remedy(
    tmp_path: pathlib.Path, old: str, new: str, line: int, words: list[str]
) -> None:
    """Where it stands, which key it is, what is wrong, and what may stand there instead."""
    problems = problems_of(tmp_path, changed((old, new)))
    told = [problem for problem in problems if problem.startswith(f"line {line}: ")]
    assert any(all(word in problem for word in words) for problem in told), problems


def test_all_offenders_are_told_at_once(tmp_path: pathlib.Path) -> None:
    """Any set of independent offenders gives one problem each, in the order of the lines."""
    independent = [
        ("seed = 7", "seed = -7"),
        ("blocks = 4", 'blocks = "4"'),
        ('size = "100 KB"', 'size = "-1 KB"'),
        ('rate = "10 Mbit/s"', 'rate = "-10 Mbit/s"'),
        ('delay = "10 ms"', 'delay = "10 parsec"'),
        ('"reno"', '"rneo"'),
        ('name = "h3"', 'name = "h3#"'),
        ('protocol = "h3"', 'protocol = "h4"'),
    ]
    draw = random.Random(5)
    for _ in range(50):
        chosen = draw.sample(independent, draw.randrange(1, len(independent) + 1))
        problems = problems_of(tmp_path, changed(*chosen))
        assert len(problems) == len(chosen), problems
        lines = [int(problem.split(":")[0].removeprefix("line ")) for problem in problems]
        assert lines == sorted(lines)


def test_the_error_counts_and_says_what_to_do(tmp_path: pathlib.Path) -> None:
    """Its exit code is that of a wrong spec."""
    with pytest.raises(SpecError) as caught:
        read_study(written(tmp_path, changed(("seed = 7", "seed = -7"), ('"100 KB"', '"-1 KB"'))))
    assert "2 problems" in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == ExitCode.SPEC


@pytest.mark.parametrize(
    ("table", "name", "line"), [("workload", "100KB", 6), ("path", "plain", 10), ("arm", "h2", 15)]
)
def test_names_are_unique(tmp_path: pathlib.Path, table: str, name: str, line: int) -> None:
    """The second of the same name is told where the first is."""
    block = SMALL[SMALL.index(f"[[{table}]]") :].split("\n\n")[0] + "\n"
    problem = only_problem(tmp_path, SMALL + "\n" + block)
    assert f"is already the name of the one in line {line}" in problem
    assert f"{table}[{name}].name" in problem


@pytest.mark.parametrize("table", ["workload", "path", "arm"])
def test_the_matrix_is_not_empty(tmp_path: pathlib.Path, table: str) -> None:
    """A missing and an empty list are both told."""
    start = SMALL.index(f"[[{table}]]")
    end = SMALL.find("\n\n", start) if table != "arm" else len(SMALL)
    without = SMALL[:start] + SMALL[end:].lstrip()
    assert f"[[{table}]] is missing" in only_problem(tmp_path, without)
    assert f"{table}: there are 0" in only_problem(tmp_path, f"{table} = []\n{without}")


def test_one_arm_is_measured_alone(tmp_path: pathlib.Path) -> None:
    """Whatever its protocol; over HTTP/3 alone nothing needs settings of TCP."""
    head, tail = SMALL[: SMALL.index("[[arm]]")], SMALL[SMALL.rindex("[[arm]]") :]
    assert [arm.name for arm in study_of(tmp_path, SMALL[: SMALL.rindex("[[arm]]")]).arms] == ["h2"]
    study = study_of(tmp_path, head + tail)
    assert (study.baseline, len(study.arms)) == ("h3", 1)
    wrong, _ = problems_of(tmp_path, f'{head}{tail}only_for = "competition"\n')
    assert "none of 1 is measured" in wrong


def test_the_table_study_cannot_be_missing(tmp_path: pathlib.Path) -> None:
    """Without it the keys are unknown tables, and the missing table is named first."""
    problems = problems_of(tmp_path, SMALL.replace("[study]\n", ""))
    assert any("[study] is missing" in problem for problem in problems)
    assert all(problem.startswith("line ") for problem in problems)


def test_names_of_programs_are_checked_where_they_are_known(tmp_path: pathlib.Path) -> None:
    """Without a list any name passes; with one the closest is offered, for each role by itself."""
    spec = written(tmp_path, changed(('client = "curl-cffi"', 'client = "curl-cfi"')))
    assert read_study(spec).arms[0].client.name == "curl-cfi"
    with pytest.raises(SpecError) as caught:
        read_study(spec, {"client": ("curl-cffi", "aioquic"), "server": ("caddy",)})
    (problem,) = caught.value.problems
    assert problem.startswith('line 18: arm[h2].client: no program is called "curl-cfi"; did you mean "curl-cffi"?')


def test_the_quic_limit_of_the_mtu_is_for_quic_alone(tmp_path: pathlib.Path) -> None:
    """Two h2 arms may use a smaller MTU."""
    both_h2 = changed(('protocol = "h3"', 'protocol = "h2"\ntcp = {congestion_control = "cubic"}'))
    text = both_h2.replace('delay = "10 ms"', 'delay = "10 ms"\nmtu = 1200')
    assert study_of(tmp_path, text).paths[0].mtu == 1200


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[study]\nname = "a\n', ["line 2", "column 10"]),
        ("[study]\nseed = 1\nseed = 2\n", ["line 3", "overwrite"]),
        ("[study]\nseed =", ["line 2"]),
        ("[[path]\n", ["line 1"]),
    ],
)
def test_what_is_not_toml_is_told_with_its_line(tmp_path: pathlib.Path, text: str, words: list[str]) -> None:
    """The parser's own words, with the place first."""
    problem = only_problem(tmp_path, text)
    assert all(word in problem for word in words), problem


def test_what_is_not_text_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    """A stray byte of another encoding."""
    spec = tmp_path / "spec.toml"
    spec.write_bytes(b'[study]\nname = "\xff"\n')
    with pytest.raises(SpecError) as caught:
        read_study(spec)
    assert caught.value.problems == ("line 2: this is not UTF-8 text",)


def test_a_byte_order_mark_does_no_harm(tmp_path: pathlib.Path) -> None:
    """Some editors write one."""
    spec = tmp_path / "spec.toml"
    spec.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert read_study(spec).name == "small"


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_cannot_be_read_is_told(tmp_path: pathlib.Path, name: str) -> None:
    """A wrong path and a directory."""
    with pytest.raises(SpecError, match="cannot be read"):
        read_study(tmp_path / name)


@pytest.mark.parametrize("value", ["[1, 2]", "{}", "1", "nan", "true", "2020-01-01"])
@pytest.mark.parametrize("table", ["study", "workload", "path", "arm"])
def test_a_name_that_is_no_text_is_a_mistake(tmp_path: pathlib.Path, table: str, value: str) -> None:
    """Of whatever table it is."""
    head = f"[{table}]" if table == "study" else f"[[{table}]]"
    before, after = SMALL.split(head, 1)
    text = before + head + re.sub(r'name = ".*"', f"name = {value}", after, count=1)
    assert any("name" in each for each in problems_of(tmp_path, text))


def test_nesting_without_end_is_refused(tmp_path: pathlib.Path) -> None:
    """No traceback for a hostile file."""
    with pytest.raises(SpecError, match="nested too deeply") as raised:
        read_study(written(tmp_path, "a = " + "[" * 100_000))
    assert "Take levels out" in raised.value.hint


def test_a_number_of_too_many_digits_is_told_with_its_line(tmp_path: pathlib.Path) -> None:
    """Python refuses to read it; as many digits in a comment or a text are none."""
    digits = "1" + "0" * 5000
    text = f'# {digits}\n[study]\nname = "{digits}"\nseed = {digits}\n'
    with pytest.raises(SpecError, match="cannot be read") as raised:
        read_study(written(tmp_path, text))
    assert raised.value.problems == ("line 4: this number has too many digits",)


def test_a_long_number_in_hexadecimal_is_told_too(tmp_path: pathlib.Path) -> None:
    """Python reads it, but cannot write it in decimal."""
    with pytest.raises(SpecError):
        read_study(written(tmp_path, "[study]\nname = 'x'\nseed = 0x1" + "0" * 5000))


@pytest.mark.parametrize("seed", range(60))
def test_no_mutilated_spec_ends_in_a_traceback(tmp_path: pathlib.Path, seed: int) -> None:
    """Whatever is cut, doubled or replaced, the spec is read or refused with a line for each problem."""
    draw = random.Random(seed)
    values = [
        "0",
        "-1",
        "true",
        '""',
        '"x"',
        "[]",
        "[1]",
        "{}",
        "{a = 1}",
        "1.5",
        "nan",
        "1979-05-27",
        '["1 ms"]',
        '"5 %"',
    ]
    text = with_path('jitter = {distribution = "normal", scale = "1 ms"}\nqueue = ["1 bdp", "64 KB"]\nloss = [1, 2]')
    lines = text.splitlines()
    for _ in range(draw.randrange(1, 6)):
        number = draw.randrange(len(lines))
        key, equals, _ = lines[number].partition(" = ")
        lines[number] = draw.choice(
            ["", lines[draw.randrange(len(lines))], f"{key} = {draw.choice(values)}" if equals else ""]
        )
    problems: tuple[str, ...] = ("line 1: none",)
    try:
        read_study(written(tmp_path, "\n".join(lines)))
    except SpecError as error:
        problems = error.problems
    assert problems
    assert all(problem.startswith("line ") for problem in problems)


def test_a_named_pipe_is_not_waited_for(tmp_path: pathlib.Path) -> None:
    """Nothing may ever be written to it."""
    pipe = tmp_path / "spec.toml"
    os.mkfifo(pipe)
    with pytest.raises(SpecError, match="is a named pipe, and not a file"):
        read_study(pipe)


def test_a_file_without_an_end_is_not_read_to_it() -> None:
    """A device in place of a spec is refused before it fills the memory."""
    with pytest.raises(SpecError, match="/dev/zero has more than 16 MB, and no spec has"):
        read_study(pathlib.Path("/dev/zero"))
