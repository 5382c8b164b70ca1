# SPDX-License-Identifier: Apache-2.0
"""The how-tos for what is added often: their files run, pass the lint, and are registered by the lines they give."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import plotly.graph_objects as graph_objects
import pytest
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.report.figures import Asked, spec
from quiclab.spec.read import read_study

ROOT = Path(__file__).resolve().parents[2]
HOW_TOS = ROOT / "docs" / "how-to"
TEXTS = {
    page: (HOW_TOS / f"{page}.md").read_text(encoding="utf-8")
    for page in ("add-a-figure", "add-a-mechanism", "add-a-metric", "add-an-endpoint")
}
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_PATH = re.compile(r"`((?:src|tests)/[\w/]+\.py)`")


def files_of(page: str) -> dict[str, str]:
    """The Python files that a page gives whole, by the path that is named last before each."""
    text = TEXTS[page]
    blocks = [block for block in _BLOCK.finditer(text) if block[2] == "python"]
    return {_PATH.findall(text[: block.start()])[-1]: textwrap.dedent(block[3]) for block in blocks}


def registering(page: str) -> str:
    """The command of a page that changes a list; its last word is the list's file."""
    (command,) = [textwrap.dedent(block[3]) for block in _BLOCK.finditer(TEXTS[page]) if "sed -i" in block[3]]
    return command


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which each page has been followed."""
    folder = tmp_path_factory.mktemp("done")
    for page in TEXTS:
        registry = registering(page).split()[-1]
        for path, source in files_of(page).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(source, encoding="utf-8")
        (folder / registry).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / registry, folder / registry)
        subprocess.run(registering(page), shell=True, cwd=folder, check=True)
    return folder


@pytest.fixture
def load(done: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A function that imports a file as if it stood where its page says."""

    def loaded(path: str) -> ModuleType:
        name = ".".join(Path(path).with_suffix("").parts[1:])
        found = importlib.util.spec_from_file_location(name, done / path)
        assert found is not None
        assert found.loader is not None
        module = importlib.util.module_from_spec(found)
        monkeypatch.setitem(sys.modules, name, module)
        found.loader.exec_module(module)
        return module

    return loaded


def test_files_pass_the_lint(done: Path) -> None:
    """Those of the pages, and the lists with their new lines."""
    config = f"--config={ROOT / 'pyproject.toml'}"
    ours = 'lint.isort.known-first-party = ["quiclab"]'  # most of it is not in that folder
    for tool in (
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", config, "--config", ours],
        [sys.executable, "-m", "ruff", "format", "--no-cache", "--quiet", "--diff", config],
        [sys.executable, str(ROOT / "tools" / "english.py"), "src"],
    ):
        looked = subprocess.run(tool, cwd=done, capture_output=True, text=True, check=False)
        assert (looked.returncode, looked.stdout + looked.stderr) == (0, "")


@pytest.mark.parametrize("page", TEXTS)
def test_a_line_finds_its_place(page: str, done: Path) -> None:
    """The class or the tuple of the page is imported by the list, and is an entry of it."""
    registry = registering(page).split()[-1]
    before, after = ((folder / registry).read_text(encoding="utf-8") for folder in (ROOT, done))
    (new,) = set(re.findall(r"import (\w+)$", after, re.MULTILINE)) - set(
        re.findall(r"import (\w+)$", before, re.MULTILINE)
    )
    assert any(re.search(rf"^(class {new}\b|{new} = )", source, re.MULTILINE) for source in files_of(page).values())
    assert len(re.findall(rf"\b{new}\b", after)) == 2


@pytest.mark.parametrize("page", TEXTS)
def test_a_pages_tests_pass(page: str, tmp_path: Path, load: Callable[[str], ModuleType]) -> None:
    """With the files of the page."""
    paths = sorted(files_of(page))  # src before tests
    modules = [load(path) for path in paths]
    tests = [value for name, value in vars(modules[-1]).items() if name.startswith("test_")]
    assert tests
    for test in tests:
        folder = tmp_path / test.__name__
        folder.mkdir()
        test(**({"tmp_path": folder} if "tmp_path" in inspect.signature(test).parameters else {}))


@pytest.mark.parametrize("name", ["departures", "arrivals"])
def test_a_pages_figure_is_drawn(name: str, tmp_path: Path, load: Callable[[str], ModuleType]) -> None:
    """The columns that it declares, and a drawing that plotly accepts."""
    study = write_study(tmp_path / "study", Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    for trial in (study / "trials").iterdir():
        write_logs(study, trial.name, 50)
    figure = getattr(load(f"src/quiclab/report/figures/{name}.py"), name.capitalize())()
    data = figure.gather(Asked(open_study(study), analyse_study(study), cell="1 MB/clean"))
    assert data.height > 50
    assert set(figure.columns) <= set(data.columns)
    assert graph_objects.Figure(spec(figure.draw(data))).data


def test_the_study_to_try_things_on_can_be_run() -> None:
    """Two arms over one path."""
    assert [arm.name for arm in read_study(HOW_TOS / "try.toml").arms] == ["h2", "h3"]
