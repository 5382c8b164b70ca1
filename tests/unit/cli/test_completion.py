# SPDX-License-Identifier: Apache-2.0
"""What the Tab key offers, asked by a real bash as it asks for any program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from small_study import QUICLAB
from specs import SMALL, changed, written

from quiclab.cli.main import main

_ASK = """\
program=$1
shift
eval "$("$program" completion bash)"
for line; do
    COMPREPLY=() COMP_LINE="$program $line" COMP_TYPE=9 COMP_CWORD=1 COMP_WORDS=(quiclab)
    COMP_POINT=${#COMP_LINE}
    _python_argcomplete "$program"
    printf '%s\\n' "${COMPREPLY[@]}" --
done
"""


def offered(lines: Iterable[str], folder: Path) -> list[set[str]]:
    """Words that one bash offers behind each of these lines."""
    command = ["bash", "-c", _ASK, "bash", str(QUICLAB), *lines]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    answers = done.stdout.split("--\n")[:-1]
    return [{word.rstrip() for word in answer.splitlines()} for answer in answers]


def test_what_the_tab_key_offers(tmp_path: Path) -> None:
    """Verbs, options, files, figures, metrics, and what is in the spec or the study that is named."""
    written(tmp_path, SMALL)
    study = tmp_path / "study"
    study.mkdir()
    names = {"paths": ["near", "far"], "workloads": ["page"], "arms": ["tcp", "quic"]}
    resolved = {kind: [{"name": name} for name in of] for kind, of in names.items()}
    (study / "resolved.json").write_text(json.dumps(resolved))
    (tmp_path / "grid.toml").write_text(changed(('delay = "10 ms"', 'delay = ["10 ms", "20 ms"]')))
    wanted = {
        "re": {"report"},
        "run --unt": {"--until"},
        "run sp": {"spec.toml"},
        "run spec.toml --cell ": {"100KB/plain"},
        "run grid.toml --cell ": {"100KB/plain-10ms", "100KB/plain-20ms"},
        "compare study study --arm ": {"tcp", "quic"},
        "figure window study --cell page/": {"page/near", "page/far"},
        "figure seq": {"sequence"},
        "report study --metric setup": {"setup_ms"},
        "exec --profile lt": {"lte"},
        "paper yu": {"yu-benson"},
        "paper liu L7": {"L7a", "L7b"},
    }
    *answers, of_none = offered([*wanted, "trial no-such.toml --cell "], tmp_path)
    assert dict(zip(wanted, answers, strict=True)) == wanted
    assert of_none <= {"", "spec.toml", "study/", "grid.toml"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_lines(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For the program by its name."""
    assert main(["completion", shell]) == 0
    assert "quiclab" in capsys.readouterr().out


def test_another_shell_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest one."""
    assert main(["completion", "csh"]) == 2
    assert "did you mean zsh?" in capsys.readouterr().err
