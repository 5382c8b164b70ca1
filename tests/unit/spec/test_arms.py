# SPDX-License-Identifier: Apache-2.0
"""Arms: programs by name or by command, and TCP's settings, which are never the machine's."""

from __future__ import annotations

import pathlib

import pytest
from specs import SMALL, changed, only_problem, study_of

from quiclab.model.study import Certificate, Knobs, Program, Tcp
from quiclab.model.units import ByteCount, Duration

TCP_LINE = 'tcp = {congestion_control = "reno"}'


def test_tcp_has_pinned_defaults(tmp_path: pathlib.Path) -> None:
    """Only the algorithm must be named."""
    assert study_of(tmp_path).arms[0].tcp == Tcp("reno")


def test_an_h3_arm_takes_tcp_from_the_baseline(tmp_path: pathlib.Path) -> None:
    """Not from the first arm that has it, if that is another."""
    other = (
        '[[arm]]\nname = "other"\nprotocol = "h2"\nclient = "a"\nserver = "b"\ntcp = {congestion_control = "cubic"}\n\n'
    )
    text = changed(("[[arm]]\n", other + "[[arm]]\n"), ("blocks = 4\n", 'blocks = 4\nbaseline = "h2"\n'))
    arms = {arm.name: arm.tcp.congestion_control for arm in study_of(tmp_path, text).arms}
    assert arms == {"other": "cubic", "h2": "reno", "h3": "reno"}


def test_an_h3_baseline_takes_tcp_from_the_first_that_has_it(tmp_path: pathlib.Path) -> None:
    """Every trial runs in namespaces whose TCP is pinned."""
    arms = study_of(tmp_path, changed(("blocks = 4\n", 'blocks = 4\nbaseline = "h3"\n'))).arms
    assert [arm.tcp for arm in arms] == [Tcp("reno")] * 2


def test_tcp_is_missing_where_no_arm_names_it(tmp_path: pathlib.Path) -> None:
    """An h2 arm always must; of two h3 arms one must where TCP leads to an origin, and else none need."""
    h3 = changed((f"{TCP_LINE}\n", ""), ('protocol = "h2"', 'protocol = "h3"'))
    assert [arm.tcp for arm in study_of(tmp_path, h3).arms] == [Tcp("reno")] * 2
    proxied = h3.replace('client = "curl-cffi"', 'client = "curl-cffi"\nproxy = "p"', 1)
    assert 'no arm has "tcp"' in only_problem(tmp_path, proxied)
    assert study_of(tmp_path, proxied.replace('proxy = "p"', 'proxy = "p"\norigin_protocol = "h3"')).arms
    assert "the machine's default is never used" in only_problem(tmp_path, changed((f"{TCP_LINE}\n", "")))


@pytest.mark.parametrize(
    ("tcp", "words"),
    [
        ('{congestion_control = "cubik"}', 'did you mean "cubic"?'),
        ('{congestion_control = "reno", initial_window = 0}', "from 1 to 10000"),
        ('{congestion_control = "reno", sack = "on"}', "true or false"),
        ('{congestion_control = "reno", receive_buffer = ["4 KiB", "1 MB"]}', "2 elements"),
        (
            '{congestion_control = "reno", receive_buffer = ["4 KiB", "1 MB", "1 KB"]}',
            "none may be smaller",
        ),
        ('{congestion_control = "reno", cwnd = 10}', "no such key"),
        ('"reno"', "is a string"),
    ],
)
def test_a_wrong_setting_of_tcp_is_refused(tmp_path: pathlib.Path, tcp: str, words: str) -> None:
    """Names, ranges and forms."""
    assert words in only_problem(tmp_path, changed((TCP_LINE, f"tcp = {tcp}")))


def test_buffers_are_three_sizes(tmp_path: pathlib.Path) -> None:
    """Minimum, default and maximum."""
    text = changed((TCP_LINE, 'tcp = {congestion_control = "bbr", send_buffer = ["4096 B", "16 KiB", "1 MiB"]}'))
    expected = (ByteCount(4096), ByteCount(2**14), ByteCount(2**20))
    assert study_of(tmp_path, text).arms[0].tcp.send_buffer == expected


def test_a_program_of_ones_own_is_a_command(tmp_path: pathlib.Path) -> None:
    """Templates, environment and how it becomes ready; braces around other things stay."""
    own = '{argv = ["hq", "--port={port}", "{\\"a\\": 1}"], env = {X = "1", Q = "{qlog_dir}"}, ready = "udp"}'
    server = study_of(tmp_path, changed(('server = "caddy"', f"server = {own}"))).arms[0].server
    argv = ("hq", "--port={port}", '{"a": 1}')
    assert server == Program("command", argv, (("Q", "{qlog_dir}"), ("X", "1")), "udp")


def test_a_program_by_name_may_choose_its_congestion_control(tmp_path: pathlib.Path) -> None:
    """As a table with the name."""
    text = changed(('server = "caddy"', 'server = {name = "aioquic", congestion_control = "cubic"}'))
    assert study_of(tmp_path, text).arms[0].server == Program("aioquic", knobs=Knobs(congestion_control="cubic"))


def test_knobs_are_keys_of_the_program(tmp_path: pathlib.Path) -> None:
    """With their units; a prefix names another build."""
    (tmp_path / "old").mkdir()
    table = '{name = "x", prefix = "old", groups = ["secp384r1", "x25519"], ack_delay = "5 ms", max_window = "1 MB"}'
    server = study_of(tmp_path, changed(('server = "caddy"', f"server = {table}"))).arms[0].server
    knobs = Knobs(groups=("secp384r1", "x25519"), ack_delay=Duration(5_000_000), max_window=ByteCount(10**6))
    assert server == Program("x", prefix=str(tmp_path / "old"), knobs=knobs)
    assert server.knobs.asked() == ("max_window", "groups", "ack_delay")


def test_a_prefix_may_be_a_folder_of_the_installed_programs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever they are installed: the spec of a study that comes with quiclab cannot know."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path / "stacks"))
    text = changed(('server = "caddy"', 'server = {name = "nginx", prefix = "stacks:sid"}'))
    assert "run make stacks" in only_problem(tmp_path, text)
    (tmp_path / "stacks" / "sid").mkdir(parents=True)
    assert study_of(tmp_path, text).arms[0].server == Program("nginx", prefix=str(tmp_path / "stacks" / "sid"))


def test_a_version_that_is_a_release_in_full_is_that_release(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder need not be there yet. The beginning of a version, and a prefix, stay what they are."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path / "stacks"))
    release = str(tmp_path / "stacks" / "releases" / "caddy" / "2.5.2")
    (tmp_path / "own").mkdir()

    def server(keys: str) -> Program:
        text = changed(('server = "caddy"', f'server = {{name = "caddy", {keys}}}'))
        return study_of(tmp_path, text).arms[0].server

    assert server('version = "2.5.2"') == Program("caddy", version="2.5.2", prefix=release)
    assert server('version = "2.5"') == Program("caddy", version="2.5")
    own = Program("caddy", version="2.5.2", prefix=str(tmp_path / "own"))
    assert server('version = "2.5.2", prefix = "own"') == own


def test_a_proxy_stands_before_the_server(tmp_path: pathlib.Path) -> None:
    """The client speaks the arm's protocol to it, and it speaks the origin's to the server."""
    text = changed(('server = "caddy"', 'server = "caddy"\nproxy = "envoy"\norigin_protocol = "h2"'))
    arm = study_of(tmp_path, text).arms[0]
    assert [(role, program.name, protocol) for role, program, protocol in arm.programs()] == [
        ("client", arm.client.name, arm.protocol),
        ("proxy", "envoy", arm.protocol),
        ("server", "caddy", "h2"),
    ]
    assert arm.front.name == "envoy"


def test_an_origin_needs_a_proxy(tmp_path: pathlib.Path) -> None:
    """Else the key would be read by nobody."""
    text = changed(('server = "caddy"', 'server = "caddy"\norigin_protocol = "h2"'))
    assert "without a proxy" in only_problem(tmp_path, text)


def test_a_certificate_has_a_type_and_a_chain(tmp_path: pathlib.Path) -> None:
    """As a table of the arm."""
    text = changed(('server = "caddy"', 'server = "caddy"\ncertificate = {key = "rsa-4096", intermediates = 3}'))
    assert study_of(tmp_path, text).arms[0].certificate == Certificate("rsa-4096", 3)


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ('{name = "caddy", groups = ["x25519", "p256"]}', 'groups[#2]: "p256" is not known here'),
        ('{name = "caddy", time_threshold = 0.5}', "from 1 to 100"),
        ('{name = "caddy", prefix = "nowhere"}', "there is no folder"),
        ("5", "the name of a program"),
        ('"my server"', "cannot be a name"),
        ("{}", 'either "name"'),
        ('{name = "caddy", argv = ["x"]}', 'either "name"'),
        ("{argv = []}", "at least the program itself"),
        ('{argv = ["x", "{prt}"]}', 'did you mean "port"?'),
        ('{argv = ["x\\u0000"]}', "NUL"),
        ('{argv = ["x"], env = {"A=B" = "1"}}', "letters, digits and underscores"),
        ('{argv = ["x"], env = {A = 1}}', "env.A"),
        ('{argv = ["x"], env = ["A=1"]}', "table of texts"),
        ('{name = "caddy", ready = "udp"}', '"ready" belongs to a program of your own'),
        ('{argv = ["x"], version = "1.30"}', '"version" belongs to a program that quiclab knows'),
        ('{name = "caddy", version = "newest"}', '"newest" is not a version'),
        ('{name = "caddy", cpu_by = "emulator", cpu = "50 %"}', "an emulator gives no share of a core"),
        ('{argv = ["x"], ready = "now"}', "valid values: udp, tcp, both, none"),
    ],
)
def test_a_wrong_program_is_refused(tmp_path: pathlib.Path, server: str, words: str) -> None:
    """Either a name or a command, with placeholders that exist."""
    text = changed(('server = "caddy"', f"server = {server}"))
    assert words in only_problem(tmp_path, text)


@pytest.mark.parametrize("key", ["name", "protocol", "client", "server"])
def test_an_arm_is_complete(tmp_path: pathlib.Path, key: str) -> None:
    """Every part of an arm is said."""
    last = SMALL.rindex("[[arm]]")
    lines = [line for line in SMALL[last:].splitlines() if not line.startswith(f"{key} =")]
    assert f'"{key}" is missing' in only_problem(tmp_path, SMALL[:last] + "\n".join(lines))


def test_a_browser_is_not_emulated(tmp_path: pathlib.Path) -> None:
    """The programs that it starts would not be."""
    text = changed(('client = "curl-cffi"', 'client = {name = "chromium", cpu_by = "emulator"}'))
    assert "chromium starts programs that an emulator does not reach" in only_problem(tmp_path, text)
