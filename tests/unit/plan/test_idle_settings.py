# SPDX-License-Identifier: Apache-2.0
"""Settings that do nothing are told, and those that do something are not."""

from __future__ import annotations

import pathlib

import pytest
from specs import SMALL, changed, study_of

from quiclab.plan.idle_settings import idle_settings

_H3 = 'name = "h3"\nprotocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"\n'


def _h3(lines: str) -> str:
    return changed((_H3, f'name = "h3"\nprotocol = "h3"\n{lines}\n'))


def _said(folder: pathlib.Path, text: str) -> str:
    """What is said, which is at most one sentence and its remedy."""
    found = idle_settings(study_of(folder, text))
    assert len(found) <= 1, found
    assert all("\n" not in told for told in found)
    return found[0] if found else ""


_PLAIN = 'client = "curl-cffi"\nserver = "caddy"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SMALL, ""),
        (_h3(_PLAIN + 'tcp = {congestion_control = "reno"}'), ""),
        (
            _h3(_PLAIN + 'tcp = {congestion_control = "cubic"}'),
            "Arm h3: tcp (congestion_control) does nothing over HTTP/3",
        ),
        (_h3(_PLAIN + 'tcp = {congestion_control = "reno", pacing = true}'), "Arm h3: tcp (pacing) does nothing"),
        (_h3('client = "firefox"\nserver = "caddy"\ntcp = {congestion_control = "cubic"}'), ""),  # begins over TCP
        (_h3(_PLAIN + 'proxy = "caddy"\ntcp = {congestion_control = "cubic"}'), ""),  # its leg to the origin
        (
            changed(('"reno"}', '"bbr", pacing = true}')),
            "Arm h2: tcp.pacing does nothing, because bbr always paces",
        ),
        (
            _h3('client = {argv = ["/x"], congestion_control = "cubic"}\nserver = "caddy"'),
            "Arm h3: congestion_control of the client does nothing: only that of a server is told",
        ),
        (_h3('client = "curl-cffi"\nserver = {argv = ["/x"], congestion_control = "cubic"}'), ""),
        (
            changed(('server = "caddy"\ntcp', 'server = {argv = ["/x"], congestion_control = "cubic"}\ntcp')),
            "Arm h2: congestion_control of the server does nothing: TCP's is tcp.congestion_control",
        ),
        (
            _h3('client = {name = "curl-cffi", cpu_by = "competitor"}\nserver = "caddy"'),
            "Arm h3: cpu_by of the client does nothing without cpu",
        ),
        (_h3('client = {name = "curl-cffi", cpu = "50 %", cpu_by = "competitor"}\nserver = "caddy"'), ""),
        (_h3('client = {name = "quic-go", cpu_by = "emulator"}\nserver = "caddy"'), ""),
        (
            _h3('client = {name = "quic-go", cpu_by = "emulator"}\nserver = "caddy"').replace(
                "blocks = 4\n", "blocks = 4\ncount_system_calls = true\n"
            ),
            "Arm h3: system calls of the client include those of its emulator",
        ),
        (
            _h3('client = "curl-cffi"\nserver = {name = "quic-go", scheduler = "fifo"}'),
            "Arm h3: scheduler of the server does nothing: every workload is of one object",
        ),
        (
            _h3('client = "quic-go"\nserver = {name = "quic-go", early_data = true}'),
            "Arm h3: early_data of the server does nothing: the client does not send any",
        ),
        (
            _h3('client = {name = "quic-go", session = "early_data"}\nserver = {name = "quic-go", early_data = true}'),
            "",
        ),
        (
            _h3('client = {name = "curl-cffi", on_address_change = "restart"}\nserver = "caddy"'),
            "Arm h3: on_address_change of the client does nothing: no workload has an address_change",
        ),
    ],
)
def test_settings(tmp_path: pathlib.Path, text: str, told: str) -> None:
    """One line, which begins with the arm and the key."""
    said = _said(tmp_path, text)
    assert said.startswith(told)
    assert bool(said) == bool(told)


def test_compression_needs_content_that_gets_smaller(tmp_path: pathlib.Path) -> None:
    """Of both ends; text is another matter."""
    ends = 'client = {name = "curl-cffi", compression = true}\nserver = {name = "caddy", compression = true}'
    assert [told[:53] for told in idle_settings(study_of(tmp_path, _h3(ends)))] == [
        "Arm h3: compression of the client does nothing: the c",
        "Arm h3: compression of the server does nothing: the c",
    ]
    text = _h3(ends).replace('size = "100 KB"', 'size = "100 KB"\ncontent = "text"')
    assert idle_settings(study_of(tmp_path, text)) == []


def test_a_cache_without_anything_to_keep_does_nothing(tmp_path: pathlib.Path) -> None:
    """The document is asked for each time, so that a page needs a second resource."""
    client = 'client = {name = "chromium", session = "early_data", http_cache = true}'
    page = 'kind = "page"\npage = {html = "4 KB"}'
    text = _h3(f'{client}\nserver = "caddy"').replace('size = "100 KB"', page)
    assert _said(tmp_path, text).startswith("Arm h3: http_cache of the client does nothing: the document")
    images = 'html = "4 KB", resources = [{type = "image", size = "20 KB"}]'
    assert _said(tmp_path, text.replace('html = "4 KB"', images)) == ""


def test_several_objects_give_a_scheduler_work(tmp_path: pathlib.Path) -> None:
    """Which order they have is the question then."""
    text = _h3('client = "quic-go"\nserver = {name = "quic-go", scheduler = "fifo"}')
    assert idle_settings(study_of(tmp_path, text.replace('size = "100 KB"', 'size = "10 KB"\ncount = 5'))) == []


def test_flows_beside_the_baseline_have_its_tcp_settings(tmp_path: pathlib.Path) -> None:
    """So those of a baseline over QUIC do something, where such flows are."""
    text = _h3(_PLAIN + 'tcp = {congestion_control = "cubic"}').replace("seed = 7", 'seed = 7\nbaseline = "h3"')
    assert "does nothing" in _said(tmp_path, text)
    beside = 'competition = {background = [{kind = "short_flows", rate = "1 Mbit/s"}]}'
    assert _said(tmp_path, text.replace('size = "100 KB"', f'size = "100 KB"\n{beside}')) == ""


def test_a_limit_of_earlier_versions_has_no_effect(tmp_path: pathlib.Path) -> None:
    """A spec with it is read, and its user is told what takes its place."""
    assert _said(tmp_path, SMALL) == ""
    said = _said(tmp_path, SMALL + '\n[limits]\nlateness_p99 = "1 ms"\n')
    assert said.startswith("limits.lateness_p99 has no effect")
    assert "disturbance" in said
    assert _said(tmp_path, SMALL + '\n[limits]\ndisturbance = "0 %"\n').startswith("limits.disturbance = 0 %")
