# SPDX-License-Identifier: Apache-2.0
"""List docstrings that do not say by themselves what the thing is, comments that speak of programs as of people, and
sentences with a word of ours for what the field has a word of its own.

usage: english.py [FOLDER …]      every folder of sources, by default, and the number of faulty docstrings of tests

An editor shows a docstring without its surroundings, so it has to begin with a noun or a verb, and to say instead of
asking. The rules look at the first words only, and at a few relative pronouns: they miss much bad English, and seldom
complain about good English.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tools", "benches", "crates", "programs")
IN_TESTS = 1248
"""Docstrings of tests that have a fault: the number goes down, and a change that makes it smaller writes it here."""

REFERRING = re.compile(
    r"also|and|as|but|ditto|else|its?|likewise|neither|none|nor|of|or|so|that|theirs?|them|then|these|they|those|"
    r"thus|which|who(ever|m|se)?"
)
"""Openings that refer to something that the docstring does not name."""

CIRCUMSTANCES = re.compile(
    r"after|at|before|below|beside|between|by|for|from|if|in|on|over|since|until|when|with|without"
)
"""Openings that tell when, where or how, before it is said what."""

ASKING = re.compile(r"how|what|whatever|whether|where|why")
"""Openings that ask for what the docstring is to say."""

SMALL = re.compile(
    r"aioquic|apt|curl|gtlsclient|gtlsserver|libcurl|nghttp|nginx|pcap|pcapng|qlog|quic-go|quiche|quiclab|quinn|wget2"
)
"""Names that are written with a small first letter."""

PEOPLE = re.compile(
    r"any(body|one)|authors?|caller|every(body|one)|nobody|one|people|person|readers?|some(body|one)|stranger|those|users?"
)
"""Words after which `who` is right."""

PARTS = re.compile(r",|all|any|both|each|half|many|most|none|one|part|some|two")
"""Words, or a comma, after which `of which` is right."""

FIELD_WORDS = {
    r"set-up(?!s)": "handshake",
    r"link busy": "transmitting",
    r"noticing a loss|report of a loss": "loss detection",
    r"window reduced after": "congestion window after",
    r"credit of the (stream|connection)": "flow control",
    r"own send buffer": "send buffer",
    r"acknowledgments? held": "delayed ACKs",
    r"needless (repeats?|probes?)": "spurious retransmission, spurious probe",
    r"managed queue": "AQM",
    r"slow reader": "receiver application-limited",
    r"least time\b(?! (between|of the trials|by which))": "lower bound",
    r"occasions?": "session",
    r"far out": "outlier",
    r"machine too (slow|busy)": "not judged: disturbed",
    r"undecided(?! whether it matters)": "inconclusive",
}
"""Words of a sentence that is printed, and those of the field that stand for them."""

_WORD = re.compile(r"[^\s]+")
_WHO = re.compile(r"(?:([\w-]+),? +)?\b(who|whoever|whom)\b", re.IGNORECASE)
_OF_WHICH = re.compile(r"(?:([\w-]+|,) +)?\bof which\b", re.IGNORECASE)


class Text(NamedTuple):
    """A docstring or comment, and where it stands."""

    line: int
    text: str
    describes: bool
    """True if the text is shown alone, as a docstring is."""


def faults(text: str, *, describes: bool = True) -> list[str]:
    """Faults of a docstring, or of a comment, which is read in its place and so may begin in any way."""
    plain = " ".join(re.sub(r"`[^`]*`", "`code`", text).split())
    if describes and (opening := _opening(plain)):
        return opening
    found = [f'"{hit[2]}" for what is no person' for hit in _WHO.finditer(plain) if not _after(PEOPLE, hit)]
    found += ['"of which" where nothing is divided' for hit in _OF_WHICH.finditer(plain) if not _after(PARTS, hit)]
    return found


def _after(words: re.Pattern[str], hit: re.Match[str]) -> bool:
    return words.fullmatch((hit[1] or "").lower()) is not None


def _opening(text: str) -> list[str]:
    words = _WORD.findall(text)
    if len(words) < 2:
        return ["fewer than two words"]
    first = words[0].strip(",.;:()").lower()
    if REFERRING.fullmatch(first) or CIRCUMSTANCES.fullmatch(first):
        return [f'begins with "{words[0]}"']
    if ASKING.fullmatch(first):
        return [f'asks: begins with "{words[0]}"']
    if first == "the" and words[1] == "same":
        return ['begins with "The same"']
    if words[0].strip(",:").isalpha() and words[0].islower() and not SMALL.fullmatch(first):
        return ["begins with a small letter"]
    return []


def python_texts(source: str) -> Iterator[Text]:
    """Docstrings of modules, classes, functions, fields and constants, and comments."""
    yield from docstrings(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string, describes=False)


def docstrings(source: str) -> Iterator[Text]:
    """Docstrings of modules, classes, functions, fields and constants."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(node)


def _docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Text]:
    before: ast.stmt | None = None
    for index, here in enumerate(node.body):
        described = index == 0 or isinstance(before, ast.Assign | ast.AnnAssign)
        text = here.value.value if isinstance(here, ast.Expr) and isinstance(here.value, ast.Constant) else None
        if described and isinstance(text, str):
            yield Text(here.lineno, text, describes=True)
        before = here


@cache
def _former(word: str) -> re.Pattern[str]:
    """The pattern of a word, also where a sentence begins with it."""
    return re.compile(rf"(?<![\w`-])({word})(?![\w`])", re.IGNORECASE)


def former_words(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, text and complaint of each sentence with a word of ours: a string with a blank that is no docstring."""
    tree = ast.parse(source)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            for former, word in FIELD_WORDS.items():
                if " " in node.value and (hit := _former(former).search(node.value)):
                    yield node.lineno, node.value, f'"{hit[0]}" is {word}'


def marked_texts(source: str) -> Iterator[Text]:
    """Comments of Rust or Go, line after line put together; those with `///` and `//!` describe."""
    start, mark, lines = 0, "", list[str]()
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        found = re.match(r"\s*(//[/!]?)(?!/) ?(.*)", line)
        if lines and (not found or found[1] != mark):
            yield Text(start, "\n".join(lines), describes=mark != "//")
            lines = []
        if found:
            start, mark = (start, mark) if lines else (number, found[1])
            lines.append(found[2])


READERS = {".py": python_texts, ".rs": marked_texts, ".go": marked_texts}
"""Readers of texts, by the suffix of the file."""


def complaints(folder: Path) -> list[str]:
    """One line for each fault below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in READERS and "target" not in path.parts)
    return [line for file in files for line in complaints_of(file)]


def complaints_of(path: Path) -> list[str]:
    """One line for each fault of a file: file, line, what is wrong, and the beginning of the text."""
    lines = []
    name = path.resolve().relative_to(ROOT).as_posix() if path.resolve().is_relative_to(ROOT) else str(path)
    for text in READERS[path.suffix](path.read_text(encoding="utf-8")):
        line, said = f"{name}:{text.line}", " ".join(text.text.split())[:60]
        found = faults(text.text, describes=text.describes)
        lines += [f"{line}: {fault}: {said}" for fault in found]
    if path.suffix == ".py" and not name.startswith(("tools/", "benches/")):
        told = former_words(path.read_text(encoding="utf-8"))
        lines += [f"{name}:{line}: {fault}: {' '.join(said.split())[:60]}" for line, said, fault in told]
    return lines


def _faulty_docstrings(folder: Path) -> int:
    texts = (text for path in folder.rglob("*.py") for text in docstrings(path.read_text(encoding="utf-8")))
    return sum(bool(faults(text.text)) for text in texts)


def uncommitted(top: Path, folder: str) -> list[Path]:
    """Python files in a folder of a repository that differ from its last commit; none where there is no git."""
    command = ["git", "-C", str(top), "status", "--porcelain", "--untracked-files=all", "-z", folder]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    files = [top / entry[3:] for entry in told.split("\0") if entry.endswith(".py")]
    return [file for file in files if file.is_file()]


def problem_in_tests(number: int) -> str | None:
    """Sentence about a number of faults in tests that is not the one that is declared; None where it is."""
    if number > IN_TESTS:
        return (
            f"{number} docstrings of tests have a fault, and {IN_TESTS} had one: a docstring says what holds "
            "(tools/english.py tests lists all; those of files that are not committed stand below)"
        )
    if number < IN_TESTS:
        return f"{number} docstrings of tests have a fault: write IN_TESTS = {number} into tools/english.py"
    return None


def main(asked: list[str]) -> int:
    """Print the complaints; 1 if there are any."""
    folders = [Path(folder) for folder in asked] or [ROOT / folder for folder in FOLDERS]
    found = [line for folder in folders for line in complaints(folder)]
    if not asked and (told := problem_in_tests(_faulty_docstrings(ROOT / "tests"))):
        found += [told, *(line for file in uncommitted(ROOT, "tests") for line in complaints_of(file))]
    print("\n".join(found)) if found else None
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
