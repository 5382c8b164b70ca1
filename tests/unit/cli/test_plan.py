# SPDX-License-Identifier: Apache-2.0
"""`quiclab plan`: what it prints, that it runs nothing, and what a wrong spec gets."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys

import pytest
from specs import SMALL, changed, study_of, with_path, written

from quiclab.cli import plan
from quiclab.cli.foreseen import print_foreseen
from quiclab.cli.main import main
from quiclab.model.errors import ExitCode, SpecError
from quiclab.plan.make import make_plan
from quiclab.plan.order import as_kept
from quiclab.spec.editor_schema import schema_line
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.specs import describe_arms, load_study

DEMO = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "demo" / "spec.toml"


def run(capsys: pytest.CaptureFixture[str], *words: str | pathlib.Path, code: ExitCode = ExitCode.OK) -> str:
    """Output of the verb, which ends with this code."""
    parser = argparse.ArgumentParser()
    plan.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["plan", *map(str, words)])
    assert arguments.run(arguments) == code
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def test_the_arms_and_their_differences_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Before any number."""
    text = " ".join(run(capsys, DEMO).split())
    assert text.startswith("h2 (HTTP/2) against h3 (HTTP/3).")
    assert "beta 0.7" in text
    assert "receive window" in text[: text.index("Study demo")]


def test_the_demo_is_described_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Paths with every default, number of trials, time, power, order."""
    text = " ".join(run(capsys, DEMO).split())
    for words in (
        "plain each way 10 Mbit/s 10 ms none 48 KB (32 packets) 1 Gbit/s",
        "loss each way 10 Mbit/s 10 ms 1 % 48 KB (32 packets) 1 Gbit/s",
        "long each way 10 Mbit/s 60 ms none 150 KB (100 packets) 1 Gbit/s",
        "3 objects × 3 paths × 2 arms",
        "trials of A/A control (100KB/plain",
        "Expected time: about",
        "significant at alpha 0.05 after correction over 9 comparisons",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("counted", "told"),
    [
        ("true", "are counted, in 2 trials more,"),
        ("3", "are counted, in 6 trials more,"),
        ('"every block"', "are counted, in 8 trials more,"),
        ("false", ""),
    ],
)
def test_trials_that_count_system_calls_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, counted: str, told: str
) -> None:
    """The plan has the others: two arms in one cell and four blocks."""
    spec = written(tmp_path, SMALL.replace("[study]\n", f"[study]\ncount_system_calls = {counted}\n", 1))
    text = " ".join(run(capsys, spec).split())
    assert ("system calls are counted" in text) is bool(told)
    assert told in text


def test_the_demo_has_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """It has blocks enough and its programs can do what it asks."""
    assert "warning" not in run(capsys, DEMO)


def test_one_cell_with_blocks_enough_has_no_warning(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """A study of a single cell is warned only where nothing can be significant."""
    text = SMALL.replace("blocks = 4", "blocks = 6")
    assert "warning" not in run(capsys, written(tmp_path, text))
    assert "warning: With 5 blocks" in run(capsys, written(tmp_path, text.replace("blocks = 6", "blocks = 5")))


def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """The same plan for programs."""
    document = json.loads(run(capsys, DEMO, "--json"))
    assert document["trials"] == len(document["order"]) == document["blocks"] * 2
    assert document["cells"] == 11
    assert document["expected_ns"] == sum(row["expected_ns"] for row in document["order"])
    assert document["links"]["long"]["down"]["queue"]["bytes"] == 150_000
    assert document["study"]["arms"][1]["tcp"]["congestion_control"] == "reno"
    assert document["power"]["comparisons"] == 9
    assert document["arms"]["differences"]
    assert [row["position"] for row in document["order"]] == list(range(document["trials"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            changed(("blocks = 4", "blocks = 6"), ("[[path]]", '[[workload]]\nname = "x"\nsize = "1 KB"\n\n[[path]]')),
            "With 6 blocks the smallest p is 0.031: 2 comparisons must differ at once",
        ),
        (SMALL, "With 4 blocks the smallest p is 0.12: nothing can be significant"),
        (
            changed(("blocks = 4", "blocks = 7\naa = {blocks = 7}"), ('"100 KB"', '"1 GB"')),
            "Trials of 100KB/plain, 100KB/plain/aa-h2, 100KB/plain/aa-h3 are expected to reach limits.trial",
        ),
    ],
)
def test_it_warns_of_a_plan_that_would_disappoint(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, text: str, words: str
) -> None:
    """Too few blocks, too slow a path."""
    assert f"warning: {words}" in " ".join(run(capsys, written(tmp_path, text)).split())


UNABLE = changed(("blocks = 4", "blocks = 7")).replace(
    'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"',
    'protocol = "h3"\nclient = "curl-cffi"\nserver = {name = "caddy", congestion_control = "cubic"}',
)
"""The server Caddy cannot be told another congestion control of HTTP/3."""
ABSENT = changed(("blocks = 4", "blocks = 7")).replace(
    'protocol = "h3"\nclient = "curl-cffi"', 'protocol = "h3"\nclient = {argv = ["/no/such/client", "{url}"]}'
)


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        (UNABLE, ExitCode.SPEC, "arm 'h3': caddy's QUIC is New Reno only"),
        (ABSENT, ExitCode.HOST, "arm 'h3': the client's /no/such/client is not there"),
        (
            UNABLE.replace('"curl-cffi"', '["curl-cffi", "curl"]'),
            ExitCode.SPEC,
            "arm 'h3-curl': caddy's QUIC is New Reno only",
        ),
    ],
)
def test_an_arm_that_cannot_run_is_one_error_and_no_warning(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, text: str, code: ExitCode, problem: str
) -> None:
    """One error behind the plan has every such arm and what to do, as `quiclab run` ends with its code."""
    spec = written(tmp_path, text)
    assert main(["plan", str(spec)]) == code
    printed = capsys.readouterr()
    assert "Study small" in printed.out
    assert "cannot run" not in printed.out
    first, *problems, hint = printed.err.splitlines()
    assert first.startswith("quiclab: error: an arm cannot run")
    assert any(each.strip().startswith(problem) for each in problems)
    assert hint.strip().startswith("hint: ")
    document = json.loads(run(capsys, spec, "--json", code=code))
    assert document["errors"] == [each.strip() for each in problems]
    assert not set(document["errors"]) & set(document["warnings"])


def test_what_few_paths_have_is_listed_below_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """Nothing that the spec asks for is left out."""
    (tmp_path / "lte.trace").write_text("1\n")
    lines = (
        'mtu = 1400\njitter = {distribution = "normal", scale = "5 ms"}\nduplicate = "1 %"\ncorrupt = "2 %"\n'
        'overhead = "38 B"\nreorder = {probability = "3 %", extra_delay = "4 ms"}\nloss = [1, 2]\nloss_at = "exit"\n'
        'schedule = [{at = "9 s", delay = "1 ms"}]\n[path.up]\ntrace = "lte.trace"\n'
    )
    text = " ".join(run(capsys, written(tmp_path, with_path(lines))).split())
    for words in (
        "IPv4, MTU 1400 bytes",
        "jitter normal 5 ms (in order, half-life 20 ms)",
        "3 % overtaken by 4 ms",
        "1 % duplicated",
        "2 % corrupted",
        "38 B of framing",
        "changes at 9 s",
        "12 Mbit/s",
        "loss behind the queue",
        "the mean is shown",
    ):
        assert words in text
    assert "lte.trace" in text.replace(" ", "")


def test_losses_that_are_chosen_are_named(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """By what they are drawn, and which packets are dropped or spared; the default is not worth a word."""
    lines = 'loss = "1 %"\nloss_by = "class"\n[path.down]\ndrop = {initial = [2], byte = [900]}\nspare = {syn = [1]}'
    text = " ".join(run(capsys, written(tmp_path, with_path(lines))).split())
    assert "plain: up: losses drawn by class" in text
    assert "plain: down: losses drawn by class; drops byte 900, initial 2; spares syn 1" in text
    assert "drawn by" not in run(capsys, written(tmp_path, with_path('loss = "1 %"')))


def test_a_path_as_netem_has_it_is_told(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """A sender whose packets are joined meets fewer events, at one rate of loss, than one that sends each alone."""
    text = run(capsys, written(tmp_path, with_path('loss = "1 %"\nloss_by = "super-packet"')))
    assert "as netem has it: fewer loss events for TCP" in " ".join(text.split())


def test_a_study_directory_is_as_good_as_its_spec(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """The spec lies in it."""
    spec = written(tmp_path, SMALL)
    assert run(capsys, tmp_path) == run(capsys, spec)


def test_names_of_programs_are_checked(tmp_path: pathlib.Path) -> None:
    """Against those that quiclab has, with the closest offered."""
    with pytest.raises(SpecError) as caught:
        load_study(written(tmp_path, changed(('server = "caddy"', 'server = "cady"'))))
    assert 'did you mean "caddy"?' in caught.value.problems[0]


def test_both_ends_tell_their_facts(tmp_path: pathlib.Path) -> None:
    """The server the sender's half, the client the receiver's."""
    text = describe_arms(study_of(tmp_path))["text"]
    assert "congestion control" in text
    assert "receive window" in text


def test_a_wrong_spec_ends_with_its_exit_code_and_nothing_is_written(tmp_path: pathlib.Path) -> None:
    """As a program: every problem on stderr, nothing on stdout, no file, no traceback."""
    spec = written(tmp_path, changed(("seed = 7", "seed = -7"), ('"100 KB"', '"-1 KB"')))
    command = [sys.executable, "-m", "quiclab.cli.main", "plan", str(spec)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ)
    assert (done.returncode, done.stdout) == (ExitCode.SPEC, "")
    assert "line 3: study.seed" in done.stderr
    assert "line 8: workload[100KB].size" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [spec]


def test_a_wrong_paper_is_told_as_a_run_would(tmp_path: pathlib.Path) -> None:
    """Nothing is printed then."""
    spec = written(tmp_path, SMALL)
    (tmp_path / "paper.toml").write_text("[paper]\nauthors = 1\n")
    with pytest.raises(SpecError, match=r"paper\.toml has \d+ problems"):
        plan.run(argparse.Namespace(spec=spec, json=False, all=False))


@pytest.mark.parametrize(
    ("metric", "told", "hint"),
    [
        ("setpu_ms", "study.metric: there is no metric 'setpu_ms'", "did you mean setup_ms?"),
        ("path_rtt_min_ms", "study.metric: path_rtt_min_ms only describes", "name one that has a better side"),
    ],
)
def test_a_study_is_about_a_metric_that_there_is(tmp_path: pathlib.Path, metric: str, told: str, hint: str) -> None:
    """One with a better side, as `quiclab report --metric` wants it."""
    spec = written(tmp_path, changed(("blocks = 4\n", f'blocks = 4\nmetric = "{metric}"\n')))
    with pytest.raises(SpecError, match=told) as error:
        plan.load_study(spec)
    assert error.value.hint == hint


def test_a_study_may_be_about_any_metric_with_a_better_side(tmp_path: pathlib.Path) -> None:
    """Without its unit too."""
    spec = written(tmp_path, changed(("blocks = 4\n", 'blocks = 4\nmetric = "tls_handshake"\n')))
    assert plan.load_study(spec).metric == "tls_handshake_ms"


def test_a_command_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """Before anything runs; one that is there is not."""
    absent = SMALL.replace('server = "caddy"', 'server = {argv = ["/no/such/prog", "{port}"]}', 1)
    assert main(["plan", str(written(tmp_path, absent))]) == ExitCode.HOST
    assert "the server's /no/such/prog is not there or may not be executed" in capsys.readouterr().err
    present = absent.replace("/no/such/prog", sys.executable)
    assert main(["plan", str(written(tmp_path, present))]) == ExitCode.OK
    assert "is not there or may" not in capsys.readouterr().err


def test_a_path_that_carries_no_datagram_of_an_arm_is_foreseen(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """quic-go begins with 1,280 bytes and 28 of headers: a path with a byte less carries none of them."""

    def told(lines: str, server: str = '"quic-go"') -> str:
        before, _, after = with_path(lines).rpartition('server = "caddy"')
        text = f"{before}server = {server}{after}"
        return " ".join(run(capsys, written(tmp_path, text)).split())

    found = told("mtu = 1307")
    assert "Path plain carries packets of up to 1307 bytes, and the server quic-go of arm h3 begins with 1308" in found
    assert "Write mtu = 1308 or more or max_payload = 1279 on it." in found
    assert "of arm h2 begins" not in found
    assert "begins with" not in told("mtu = 1308")
    assert "begins with" not in told("mtu = 1307", '{name = "quic-go", max_payload = 1279}')
    assert "begins with 1328 (UDP payload 1280)" in told("mtu = 1300\nip_version = 6")


def test_a_black_hole_is_told_by_plan(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """A warning for datagrams that vanish in it, and for TCP, whose full segments do; none for one that loses few
    packets, comes later or stands the other way."""

    def told(lines: str) -> str:
        before, _, after = with_path(lines).rpartition('server = "caddy"')
        return " ".join(run(capsys, written(tmp_path, f'{before}server = "quic-go"{after}')).split())

    found = told('[path.down]\noversize = {above = "1300 B"}')
    assert "packets above 1300 B lost from the start" in found
    assert "carries packets of up to 1300 bytes, and the server quic-go of arm h3 begins with 1308" in found
    assert 'Write oversize.above = "1308 B" or more or max_payload = 1272 on it.' in found
    assert "arm h2 sends TCP segments of up to 1500: no full one arrives" in found
    found = told('[path.down]\noversize = {above = "1300 B", too_big = "icmp"}')
    assert "packets above 1300 B lost, their sender is told (ICMP) from the start" in found
    assert "no full one arrives" not in found
    quiet = ('{above = "1300 B", probability = "4 %"}', '{above = "1300 B", after = "2 s"}')
    for hole in quiet:
        found = told(f"[path.down]\noversize = {hole}")
        assert "begins with" not in found
        assert "no full one arrives" not in found
    assert "no full one arrives" not in told('[path.up]\noversize = {above = "1300 B"}')


def test_what_can_be_foreseen_is_told_by_plan_and_before_a_run(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """The same sentences, for people, for programs, and in front of the first trial; each with what to do."""
    own = 'client = {argv = ["/no/such/client", "{url}"]}'
    text = with_path('[path.down]\nschedule = [{at = "2 s", loss = "100 %"}]').replace('client = "curl-cffi"', own, 1)
    text = text.replace('server = "caddy"\n', 'server = "caddy"\ntcp = {congestion_control = "cubic"}\n')
    spec = written(tmp_path, text.replace('tcp = {congestion_control = "cubic"}\ntcp', "tcp"))
    told = [
        "Path plain loses every packet down",
        "Arm h2 cannot be measured",
        "Arm h3: tcp (congestion_control) does nothing over HTTP/3",
    ]
    absent = "Not on this machine: arm 'h2': the client's /no/such/client is not there"
    document = json.loads(run(capsys, spec, "--json", code=ExitCode.HOST))
    warnings = document["warnings"]
    assert [f"Not on this machine: {each}".startswith(absent) for each in document["errors"]] == [True]
    for sentence in told:
        (found,) = [each for each in warnings if each.startswith(sentence)]
        assert f"warning: {' '.join(found.split())}" in " ".join(run(capsys, spec, code=ExitCode.HOST).split())
    print_foreseen(plan.load_study(spec))
    lines = capsys.readouterr().err.splitlines()
    for line, sentence in zip(lines, (absent, *told), strict=True):
        assert line.startswith(f"warning: {sentence}")


def test_a_study_that_was_begun_shows_the_order_that_it_has(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """A ledger of a version that drew other orders; it is read, and not written."""
    study = study_of(tmp_path, SMALL)
    planned = make_plan(study)
    order = json.loads(run(capsys, tmp_path, "--json"))["order"]
    assert [row["trial_id"] for row in order] == [row.trial_id for row in planned]
    study_dir = StudyDir(tmp_path)
    with open_ledger(study_dir) as ledger:
        ledger.plan(as_kept(planned, {row.trial_id: len(planned) - row.position for row in planned}))
    before = study_dir.ledger.read_bytes()
    order = json.loads(run(capsys, tmp_path, "--json"))["order"]
    blocks = list(dict.fromkeys(row.block_id for row in planned))
    reversed_in_blocks = [row for block in blocks for row in planned[::-1] if row.block_id == block]
    assert [row["trial_id"] for row in order] == [row.trial_id for row in reversed_in_blocks]
    assert [row["position"] for row in order] == list(range(len(planned)))
    assert study_dir.ledger.read_bytes() == before


def test_the_schema_needs_no_spec(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line of a spec is printed, and nothing else."""
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--schema"])
    assert not ended.value.code
    assert capsys.readouterr().out == f"{schema_line()}\n"


def test_a_single_arm_is_planned_without_a_word_on_pairs(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There are none that could be too few."""
    spec = written(tmp_path, SMALL[: SMALL.index("[[arm]]")] + SMALL[SMALL.rindex("[[arm]]") :])
    assert main(["plan", str(spec)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "h3 (HTTP/3) alone: client curl-cffi, server caddy" in told
    assert "× 1 arm ×" in told
    assert "pairs" not in told
    assert main(["plan", str(spec), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["power"]["comparisons"] == 0
