# SPDX-License-Identifier: Apache-2.0
"""Write what the docs show of the demo: pictures of its report, and outputs of commands.

usage: docs_examples.py                  write the pictures, their words, and the outputs anew, from recorded studies
       docs_examples.py --check [--all]  write nothing; fail where outputs or the words of the demo's pictures are out
                                         of date; with --all, those of every picture
       docs_examples.py --record STUDY   record a finished study of experiments/demo/spec.toml, or of the question that
                                         the tutorial asks, for the above

An output stands in a block below a line `<!-- output of: COMMAND -->`, the causes of a cell in a quotation below a line
`<!-- why: CELL -->`. The pictures need a Chromium; their words,
in docs/report.txt, do not, so that a test can tell whether the pictures are still those of the report.
"""

from __future__ import annotations

import contextlib
import functools
import html
import io
import json
import re
import shutil
import sys
import tarfile
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quiclab.compare.model import StudyAnalysis

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
DEMO_STUDY, ASKED_STUDY = Path("demo-study"), Path("studies", "ask-300KB-40ms")
"""Paths at which a reader has the study of the demo, and that behind the question of the tutorial."""
RECORDS = {DEMO_STUDY: DOCS / "demo-study.tar.xz", ASKED_STUDY: DOCS / "learn" / "ask-study.tar.xz"}
TIMELINE = DOCS / "timeline.png"
PICTURES = ((DEMO_STUDY, DOCS / "report.png", TIMELINE), (ASKED_STUDY, DOCS / "learn" / "answer.png", None))
"""Pictures of the first screens of reports, with their studies, and of the timeline below; the words of each are beside
the first."""
DEMO = ROOT / "experiments" / "demo" / "spec.toml"
KEPT = (
    "resolved.json",
    "host.json",
    "spec.toml",
    "metrics.parquet",
    "tables/trials.parquet",
    "tables/account/*.parquet",
    "tables/account_totals/*.parquet",
    "tables/mechanism_facts/*.parquet",
    "tables/predicted_effects/*.parquet",
)
KEPT_OF_QUESTION = (
    "sequential.json",
    "looks.jsonl",
    "tables/account_totals/*.parquet",
    "tables/mechanism_facts/*.parquet",
    "tables/predicted_effects/*.parquet",
)
"""More of the tutorial's study: when it was decided, and what its causes are told by."""
KEPT_OF_TRIAL = ("version", "trial_id", "started_utc", "time_ns")
WIDTH_PX, COLUMNS = 1280, 80
_OUTPUT = re.compile(r"<!-- output of: (.+?) -->\n```\n.*?^```$", re.DOTALL | re.MULTILINE)
_WHY = re.compile(r"<!-- why: (.+?) -->\n> .*?\n(?=\n)", re.DOTALL)


def main(arguments: list[str]) -> int:
    """Do as the arguments say; 1 where something is out of date."""
    if arguments[:1] == ["--record"] and len(arguments) == 2:
        return _record(Path(arguments[1]))
    check = arguments[:1] == ["--check"]
    if arguments and arguments not in (["--check"], ["--check", "--all"]):
        print(__doc__, file=sys.stderr)
        return 2
    with _recorded():
        stale = [name for name, old, new in _pages() if not _settled(name, old, new, check=check)]
        for study, picture, timeline in PICTURES[:1] if arguments == ["--check"] else PICTURES:
            report, words = _report(study), picture.with_suffix(".txt")
            text = words_of(report.read_text(encoding="utf-8"))
            if not words.exists() or words.read_text(encoding="utf-8") != text:
                stale += filter(None, (picture, timeline))
            if not check:
                _draw(report, picture, timeline)
                words.write_text(text, encoding="utf-8")
    for name in stale if check else ():
        print(f"{name.relative_to(ROOT)} is out of date: run `make docs`", file=sys.stderr)
    return int(check and bool(stale))


def _settled(page: Path, old: str, new: str, *, check: bool) -> bool:
    if old != new and not check:
        page.write_text(new, encoding="utf-8")
    return old == new


def _record(study: Path) -> int:
    """Keep the files that report and outputs are made from, as an archive."""
    spec = (study / "spec.toml").read_bytes()
    name, kept = DEMO_STUDY, KEPT
    if spec != DEMO.read_bytes():
        if f'name = "{ASKED_STUDY.name}"'.encode() not in spec:
            print(
                f"{study} is not a study of {DEMO.relative_to(ROOT)} as it is now, nor {ASKED_STUDY}", file=sys.stderr
            )
            return 2
        name, kept = ASKED_STUDY, (*KEPT, *KEPT_OF_QUESTION)
    files = {str(file.relative_to(study)): file.read_bytes() for each in kept for file in study.glob(each)}
    for file in (*study.glob("trials/*/trial.json"), *study.glob("failed/**/trial.json")):
        trial = json.loads(file.read_text(encoding="utf-8"))
        few = {key: trial[key] for key in KEPT_OF_TRIAL if key in trial}
        files[str(file.relative_to(study))] = json.dumps(few).encode()
    record = RECORDS[name]
    with tarfile.open(record, "w:xz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    print(f"{record.relative_to(ROOT)}: {len(files)} files, {record.stat().st_size} bytes")
    return 0


@contextlib.contextmanager
def _recorded() -> Iterator[None]:
    """The recorded studies where a reader has them, below a folder that is the current one meanwhile."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for record in RECORDS.values():
            with tarfile.open(record) as archive:
                archive.extractall(folder, filter="data")
        yield


def _pages() -> Iterator[tuple[Path, str, str]]:
    """Each page that shows an output or causes: its path, its text, and that with the words of today."""
    pages = [each for each in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))) if each.exists()]
    for page in pages:
        old = page.read_text(encoding="utf-8")
        new = _WHY.sub(lambda found: f"<!-- why: {found[1]} -->\n{_causes(found[1])}\n", old)
        new = _OUTPUT.sub(lambda found: f"<!-- output of: {found[1]} -->\n```\n{_output(found[1])}```", new)
        if _OUTPUT.search(old) or _WHY.search(old):
            yield page, old, new


@functools.cache
def _analysis(study: Path) -> StudyAnalysis:
    """Analysis of a recorded study, of which several places of the docs show something."""
    from quiclab.compare.analyse import analyse_study

    return analyse_study(study)


@functools.cache
def _leads() -> Mapping[str, str]:
    """First sentence of the explanation of each cell of the demo."""
    from quiclab.report.words.explanation_text import lead
    from quiclab.why.explanation import readable_explanations

    found = readable_explanations(DEMO_STUDY, _analysis(DEMO_STUDY)) or ()
    return {each.comparison.cell_id: lead(each) for each in found}


def _causes(cell: str) -> str:
    """First sentence of the explanation of a cell of the demo, as a quotation."""
    told = _leads()[cell]
    lines = textwrap.wrap(f"{told[:1].upper()}{told[1:]}" if told.startswith("the ") else told, 100)
    return "\n".join(f"> {line}" for line in lines)


def _output(command: str) -> str:
    """Output of a command, in a terminal of 80 columns, without spaces at the ends of lines."""
    import shlex

    from rich.console import Console

    from quiclab.cli.main import main as quiclab
    from quiclab.report.words.terminal import render

    printed = io.StringIO()
    program, verb, *arguments = shlex.split(command)
    if verb == "report":  # its logs are not recorded: what is printed is made from the tables that are
        render(_analysis(Path(arguments[0])), Console(file=printed, width=COLUMNS))
    elif verb == "ask":  # it is not asked again: the answer is made from what was measured when it was
        for line in _answer(ASKED_STUDY):
            Console(file=printed, width=COLUMNS).print(line, highlight=False, markup=False)
    else:
        with contextlib.redirect_stdout(printed):
            code = quiclab([verb, *arguments])
        if program != "quiclab" or code:
            raise ValueError(f"{command} failed")
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().strip("\n").splitlines())


def _answer(study: Path) -> Sequence[object]:
    """Return what `quiclab ask` prints at its end."""
    from quiclab.cli.ask import answer
    from quiclab.study.specs import load_study

    return answer(load_study(study / "spec.toml"), study, _analysis(study)).lines


def _report(study: Path) -> Path:
    from quiclab.report.page.write import write_report

    return write_report(study.resolve())


def words_of(report: str) -> str:
    """Return what is to be read on a report before what is folded: its head, the answer, the map, the timeline, and
    why."""
    shown = report.partition("<header>")[2].partition('<section id="numbers">')[0]
    maps = [
        json.loads(each) for each in re.findall(r'<script type="application/json" id="map-\d+">(.*?)</script>', shown)
    ]
    timelines = re.findall(r'<script type="application/json" id="median-timeline">(.*?)</script>', shown)
    shown = re.sub(r"<(script|noscript)\b.*?</\1>", "", shown, flags=re.DOTALL)
    lines = [*re.sub(r"<[^>]*>", "\n", shown).splitlines(), *(word for each in maps for word in _on_map(each))]
    lines += [word for each in timelines for word in _on_timeline(json.loads(each))]
    return "".join(f"{line}\n" for line in (_plain(line) for line in lines) if line)


def _on_map(spec: dict[str, Any]) -> Iterator[str]:
    """Title, axes and cells of a map."""
    yield spec["layout"]["title"]["text"]
    for trace in spec["data"]:
        yield from (*trace["x"], *trace["y"])
        yield from (text for row in trace["text"] for text in row if text)


def _on_timeline(spec: dict[str, Any]) -> Iterator[str]:
    """Waits of a timeline in the order of its legend."""
    return (f"{trace['name']}" for trace in spec["data"] if trace.get("legendrank"))


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def _draw(report: Path, picture: Path, timeline: Path | None) -> None:
    """Take the picture of the first screen, down to the end of the map, and of the timeline below it."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH_PX, "height": 900})
        page.goto(report.as_uri())
        page.wait_for_selector("#map [data-drawn] .main-svg")
        end = page.locator(".first").bounding_box()
        assert end is not None
        page.screenshot(path=picture, clip={"x": 0, "y": 0, "width": WIDTH_PX, "height": end["y"] + end["height"] + 16},
                        full_page=True)  # fmt: skip
        if timeline is not None:
            page.wait_for_selector("#longest [data-drawn] .main-svg")
            page.locator("#longest").screenshot(path=timeline)
        browser.close()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
