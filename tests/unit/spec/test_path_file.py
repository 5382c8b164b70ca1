# SPDX-License-Identifier: Apache-2.0
"""One path of a file: by its name, or the only one."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.model.study import Bernoulli
from quiclab.model.units import Bitrate, Duration, Share
from quiclab.spec.path_file import read_path_of

_PATHS = """\
[[path]]
name = "lossy"
rate = ["5 Mbit/s", "10 Mbit/s"]
loss = "1 %"
schedule = [{at = "2 s", delay = "80 ms"}]

[[path]]
name = "wrong"
delay = "slow"
"""


def _file(folder: Path, text: str = _PATHS, name: str = "paths.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_path_is_named_behind_a_colon(tmp_path: Path) -> None:
    """A list of values makes several, as in a spec; the wrong one beside it does not matter."""
    path = read_path_of(f"{_file(tmp_path)}:lossy-10mbit")[0]
    assert (path.name, path.up.rate, path.up.loss) == ("lossy-10mbit", Bitrate(10**7), Bernoulli(Share(0.01)))
    assert path.down.schedule[0].delay == Duration(80_000_000)


def test_the_only_path_needs_no_name(tmp_path: Path) -> None:
    """The name of a file may hold a colon."""
    file = _file(tmp_path, '[[path]]\nname = "only"\n', "a:b")
    assert read_path_of(str(file))[0].name == "only"
    assert read_path_of(f"{file}:only")[0].name == "only"


def test_several_links_come_with_their_path(tmp_path: Path) -> None:
    """Each with its own keys."""
    text = '[[path]]\nname = "two"\n[[path.link]]\nname = "home"\ndelay = "2 ms"\n[[path.link]]\nname = "far"\n'
    assert [link.name for link in read_path_of(str(_file(tmp_path, text)))[0].links] == ["home", "far"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "has 3 paths. Name one behind a colon: lossy-5mbit, lossy-10mbit, wrong."),
        (":lossy-5mbi", 'has no path "lossy-5mbi". Did you mean "lossy-5mbit"?'),
        (":wrong", "line 9: path[wrong].delay: 'slow' is not a duration"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, name: str, words: str) -> None:
    """The names that there are stand in it, or the line."""
    with pytest.raises(SpecError) as caught:
        read_path_of(f"{_file(tmp_path)}{name}")
    assert words in " ".join([str(caught.value), caught.value.hint, *caught.value.problems])


@pytest.mark.parametrize("text", ["", "path = 1\n", "[study]\n"])
def test_a_file_without_a_path_is_told(tmp_path: Path, text: str) -> None:
    """Other tables do not make up for it."""
    with pytest.raises(SpecError, match="has no path"):
        read_path_of(str(_file(tmp_path, text)))
