# SPDX-License-Identifier: Apache-2.0
"""The wheel in a clean environment, where the project's folder cannot be seen: all that a user of it begins with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import ROOT, build_wheel

from quiclab import __version__

pytestmark = [pytest.mark.nightly, pytest.mark.netns]

_HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'
"""Shell command that runs another where a folder is empty."""


class Installed:
    """An environment in which the wheel is all there is of quiclab."""

    def __init__(self, folder: Path) -> None:
        """Install into `folder/venv` exactly what the lock beside the wheel names; `folder/empty` is to work in."""
        self.folder, self.bin = folder / "empty", folder / "venv" / "bin"
        build_wheel(folder / "dist")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        (lock,) = (folder / "dist").glob("*.lock")
        pip = (str(self.bin / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        subprocess.run([*pip, "-r", str(lock)], check=True)
        self.folder.mkdir()

    def __call__(self, *command: str, code: int | None = 0) -> str:
        """Run a program of the environment, as root with the project's folder hidden; what it says."""
        hidden = ("unshare", "--mount", "sh", "-c", _HIDDEN, str(ROOT)) if os.geteuid() == 0 else ()
        program = str(self.bin / command[0])
        path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        environment = {"PATH": path, "HOME": str(self.folder), "COLUMNS": "200"}
        done = subprocess.run(
            [*hidden, program, *command[1:]], cwd=self.folder, env=environment, text=True, capture_output=True,
            check=False, timeout=900,
        )  # fmt: skip
        assert code in (done.returncode, None), done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """One environment for all tests. Temporary folders are not below the project."""
    folder = tmp_path_factory.mktemp("wheel")
    assert not folder.is_relative_to(ROOT)
    assert not Path(os.path.realpath(sys.base_prefix)).is_relative_to(ROOT)
    return Installed(folder)


def test_it_knows_itself(installed: Installed) -> None:
    """Version, studies with their questions, help, and where it keeps programs: in the environment or the home."""
    assert installed("quiclab", "--version") == f"quiclab {__version__}\n"
    assert "quiclab run demo" in installed("quiclab", "--help")
    names = [line.split()[0] for line in installed("quiclab", "studies").splitlines()]
    assert {"demo", "yb-delay", "yb-delay-small"} <= set(names)
    asked = "from quiclab.project import PROJECT, stacks_folder; print(PROJECT, stacks_folder())"
    assert installed("python", "-c", asked).split() == ["None", str(installed.folder / ".local/share/quiclab/stacks")]


def test_the_machine_is_looked_at(installed: Installed) -> None:
    """Both of the demo's programs and the link are there; what else could be is told with what installs it."""
    told = installed("quiclab", "doctor")
    assert str(installed.bin / "quiclab-link") in told
    assert "make stacks" not in told
    assert "make setup" not in told


def test_a_study_of_a_paper_is_found(installed: Installed) -> None:
    """By its name; of its programs those that are not there are named."""
    told = installed("quiclab", "plan", "yb-delay-small")
    assert "Over a long path" in told or "h3" in told
    assert "quiclab doctor --install" in told


def test_a_papers_results_come_with_it(installed: Installed) -> None:
    """Each with its sentence; one is foretold from the specs in the package, and programs that it lacks are named."""
    told = installed("quiclab", "paper", "--list")
    assert "100 KB, nothing added: HTTP/3 is consistently better" in told
    assert "make stacks" not in told
    told = installed("quiclab", "paper", "yu-benson", "4a", "--small", "--dry-run", code=3)
    assert "Y1, Y2 and Y3, in 3 studies" in told
    assert "studies/headlines/yb-small-6-pairs" in told
    assert "is not here" in told
    assert "quiclab doctor --install" in told


def test_the_demo_runs_on_real_packets(installed: Installed) -> None:
    """One block of it: run, report, figure, query, and a look from Python."""
    assert "make" not in installed("quiclab", "run", "dmeo", code=2)
    spec = installed("quiclab", "studies").splitlines()[-1].removeprefix("in ") + "/demo/spec.toml"
    one = 'aa = { workload = "100KB", path = "plain", blocks = 1 }\nblocks = 1 '
    # A loaded machine must not void what is tested here.
    changed = Path(spec).read_text().replace("blocks = 7 ", one) + '\n[limits]\ndisturbance = "100 %"\n'
    (installed.folder / "one-block.toml").write_text(changed)
    installed("quiclab", "run", "one-block.toml", "--out", "study")
    study = installed.folder / "study"
    assert (study / "report.html").stat().st_size > 100_000
    assert installed("quiclab", "sql", "study", "SELECT count(*) AS n FROM trials WHERE kind = 'main' AND "
                     "status = 'verified'", "--format", "csv") == "n\n18\n"  # fmt: skip
    installed("quiclab", "report", "study", "--again")
    installed("quiclab", "figure", "differences", "study", "-o", "differences.html")
    assert "<html" in (installed.folder / "differences.html").read_text()
    told = installed("python", "-W", "error", "-c", "import quiclab; print(quiclab.open('study'))")
    assert "9 (3 workloads × 3 paths)" in told


def test_the_demo_itself_begins_by_its_name(installed: Installed) -> None:
    """With the spec in the package: one trial of it, which a busy machine may make void."""
    assert "h2 (HTTP/2) against h3 (HTTP/3)" in installed("quiclab", "plan", "demo").replace("\n", " ")
    told = installed("quiclab", "trial", "demo", "--cell", "100KB/plain", "--arm", "h3", "--out", "one", code=None)
    assert "verified" in told or "void" in told
    assert 'name = "demo"' in (installed.folder / "one" / "spec.toml").read_text()
