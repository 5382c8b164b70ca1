# SPDX-License-Identifier: Apache-2.0
"""URLs as a probe takes them."""

from __future__ import annotations

import pytest

from quiclab.spec.nodes import WrongValueError
from quiclab.spec.target import Target, read_target, read_targets


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.test", Target("a.test", "https://a.test", "a.test", 443, "")),
        ("https://a.test/x/y?q=1", Target("a.test-x-y-q-1", "https://a.test/x/y?q=1", "a.test", 443, "x/y?q=1")),
        ("https://a.test:8443/", Target("a.test-8443", "https://a.test:8443/", "a.test", 8443, "")),
        ("https://A.test/%20#top", Target("a.test-20", "https://A.test/%20#top", "a.test", 443, "%20")),
        ("https://bücher.test/", Target("xn--bcher-kva.test", "https://bücher.test/", "xn--bcher-kva.test", 443, "")),
        ("https://192.0.2.1/", Target("192.0.2.1", "https://192.0.2.1/", "192.0.2.1", 443, "")),
    ],
)
def test_read(url: str, target: Target) -> None:
    """Host in ASCII, port, what is asked for, and a name that file names bear."""
    assert read_target(url) == target


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://a.test/", "https://"),
        ("a.test", "https://"),
        ("https:///x", "https://"),
        ("https://u:p@a.test/", "password"),
        ("https://a.test:99999/", "not a URL"),
        ("https://a.test/a b", "blanks"),
        ("https://a.test/ü", "%XX"),
        ("https://[2001:db8::1]/", "IPv4 only"),
        (f"https://{'a' * 70}.test/", "not a URL"),
    ],
)
def test_refused(url: str, words: str) -> None:
    """Each with what is wrong."""
    with pytest.raises(WrongValueError, match=words):
        read_target(url)


def test_names_differ_and_repetitions_count_once() -> None:
    """Two URLs that look alike in letters get numbers; offenders are told all at once."""
    urls = ["https://a.test/x?1", "https://a.test/x/1", "https://a.test/x?1", "ftp://a.test", "x"]
    targets, problems = read_targets(urls)
    assert [target.name for target in targets] == ["a.test-x-1", "a.test-x-1-2"]
    assert [problem.partition(": ")[0] for problem in problems] == ["ftp://a.test", "x"]


def test_long_urls_have_names() -> None:
    """At most 64 letters (kinds.NAME), the number included."""
    targets, _ = read_targets([f"https://a.test/{'x' * 200}{number}" for number in range(12)])
    names = [target.name for target in targets]
    assert len(set(names)) == 12
    assert max(map(len, names)) <= 64
