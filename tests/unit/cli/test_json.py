# SPDX-License-Identifier: Apache-2.0
"""--json: one document on standard output, in the form that docs/reference/json.md has, with units in the keys."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli import as_json as as_json_module
from quiclab.cli.as_json import Ends, Level, as_json, keys_of
from quiclab.cli.documents import DOCUMENTS
from quiclab.cli.main import main, parser
from quiclab.compare.statistics import Interval
from quiclab.why.accounts import Step

UNITS = ("_ms", "_ns", "_bytes", "_pct", "_in_unit", "_bit_per_s", "_confidence", "_p", "ratio")
SHARES = {"p", "alpha", "confidence", "matters"}
"""Numbers without a unit that are shares of 1 by their nature."""


def fits(kind: Any, value: Any) -> bool:
    """Whether a value of a document is of the type that the reference gives."""
    if kind in (Any, object):
        return True
    if value is None:
        return kind in (Ends, Level) or type(None) in getattr(kind, "__args__", ())
    if kind in (float, Level):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (int, str, bool):
        return type(value) is kind
    if kind is Ends:
        return len(value) == 2 and all(fits(float | None, each) for each in value)
    if isinstance(kind, types.UnionType):
        return any(fits(each, value) for each in kind.__args__ if each is not type(None))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return value in {each.value for each in kind}
    inside = typing.get_args(kind)
    if typing.get_origin(kind) in (tuple, list):
        return all(fits(inside[0], each) for each in value)
    if typing.get_origin(kind) in (dict, Mapping):
        return all(fits(inside[1], each) for each in value.values())
    keys = {key.name: key.kind for key in keys_of(kind)}
    assert list(keys) == list(value), kind
    for name, of in keys.items():
        # A float that failures or too few values make infinite or unknown is null, whatever its type says.
        assert fits(of, value[name]) or (of is float and value[name] is None), (kind, name, value[name])
    return True


def all_classes(cls: type[Any]) -> set[type[Any]]:
    """The class and every dataclass inside it."""
    found: set[type[Any]] = set()
    todo: list[Any] = [cls]
    while todo:
        kind = todo.pop()
        if dataclasses.is_dataclass(kind) and kind not in found:
            found.add(typing.cast("type[Any]", kind))
            todo += [key.kind for key in keys_of(typing.cast("type[Any]", kind))]
        todo += typing.get_args(kind)
    return found


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two studies of one spec; the ledger of the first is a file that says nothing."""
    folder = tmp_path_factory.mktemp("studies")
    return {
        "STUDY": write_study(folder / "old", Shape()),
        "OLD": folder / "old",
        "NEW": write_study(folder / "new", Shape(seed=2)),
    }


ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs" / "reference" / "json.md"
DEMO = ROOT / "experiments" / "demo" / "spec.toml"
_RECORDINGS = Path(__file__).parent / "recordings"
COMMANDS = [
    command
    for command in DOCUMENTS
    if command.split()[0] not in {"ask", "run", "status", "merge", "report", "verify", "doctor", "tune", "history"}
    and "--confirm" not in command
    and not command.startswith("paper PAPER")
]
"""Those that need neither a ledger nor a machine, nor a spec that runs; tests/e2e has the others."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_document_has_the_form_of_the_reference(
    command: str, studies: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output is one document, with these keys and types and no others."""
    recordings = {name: _RECORDINGS / f"{name.lower()}.pcapng.gz" for name in ("H2", "H3")}
    recordings |= {"PAGE": _RECORDINGS / "page.har"}
    recordings |= {end.upper(): _RECORDINGS / f"policed-{end}.pcap.gz" for end in ("client", "server")}
    known = studies | recordings | {"SPEC": DEMO, "QUERY": "SELECT cell_id, count(*) AS n FROM trials GROUP BY ALL"}
    words = [str(known.get(word, word)) for word in command.split()]
    if words[0] == "compare":
        words += ["--allow", "kernel,programs,cpu,host", "--fail-if", "ttlb > +3%"]
    code = main(words)
    captured = capsys.readouterr()
    assert code in (0, 6, 8), captured.err
    document = json.loads(captured.out)
    assert fits(DOCUMENTS[command], document)
    assert document["version"] == 1


def test_every_command_has_a_document_or_is_said_to_have_none() -> None:
    """By the command line itself: what takes --json has a document in the reference, and what does not stands there."""
    verbs = parser().verbs
    able = {verb for verb, its in verbs.items() if "--json" in its.long_options()}
    assert able == {command.split()[0] for command in DOCUMENTS}
    (told,) = re.findall(r"No `--json` have (.*?):", REFERENCE.read_text(), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", told)) == verbs.keys() - able


QUERY = """SELECT 'x' AS word, 1.5 AS number, NULL AS nothing, 'nan'::DOUBLE AS nan, true AS yes, [1, 2] AS list,
    {'a': DATE '2026-01-02'} AS struct, TIMESTAMP '2026-01-02 03:04:05' AS instant, 0.25::DECIMAL(4, 2) AS exact,
    'ab'::BLOB AS bytes, 12345678901234567890123456789::HUGEINT AS huge, 5 * (10::HUGEINT ** 20)::HUGEINT AS round"""


def test_rows_of_a_query_are_one_document(studies: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Columns have any type: a value without a form in JSON has the one that the reference names."""
    assert main(["sql", str(studies["STUDY"]), QUERY, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert [each["name"] for each in document["columns"]] == list(row)
    assert type(row["huge"]) is type(row["round"]) is int
    assert row == {
        "word": "x", "number": 1.5, "nothing": None, "nan": None, "yes": True, "list": [1, 2],
        "struct": {"a": "2026-01-02"}, "instant": "2026-01-02T03:04:05", "exact": 0.25, "bytes": "6162",
        "huge": 12345678901234567890123456789, "round": 5 * 10**20,
    }  # fmt: skip
    assert main(["sql", str(studies["STUDY"]), "FROM trials WHERE false", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_a_query_that_fails_prints_no_document(studies: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Nor do two forms at once."""
    beyond = "SELECT 170141183460469231731687303715884105727::HUGEINT AS beyond"
    for words in ([beyond, "--json"], ["FROM nothing", "--json"], ["FROM trials", "--json", "--format", "csv"]):
        assert main(["sql", str(studies["STUDY"]), *words]) == 2
        assert capsys.readouterr().out == ""


def test_the_classes_that_are_told_apart_by_name_exist() -> None:
    """They are not imported where their rules stand, so that nothing else tells when one moves."""
    names = {*as_json_module._IN_UNIT, *as_json_module._LEFT_OUT, *as_json_module._DERIVED}
    for name in (*names, as_json_module._INTERVAL, as_json_module._SHIFT):
        module, _, cls = name.rpartition(".")
        assert getattr(importlib.import_module(module), cls).__module__ == module


def test_a_page_without_words_is_a_document_of_its_own(
    studies: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With -q the words are not on standard error either."""
    words = ["compare", str(studies["OLD"]), str(studies["NEW"]), "--json"]
    assert main(words) == 0
    assert capsys.readouterr().err
    assert main([*words, "-q"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] is None
    assert captured.err == ""


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_numbers_say_their_unit(document: type[Any]) -> None:
    """Whatever is measured has it in its key; counts are whole numbers."""
    for cls in all_classes(document):
        for key in keys_of(cls):
            number = key.kind in (float, Ends) or float in getattr(key.kind, "__args__", ())
            assert not number or key.name.endswith(UNITS) or key.name in SHARES, (cls, key.name)


def test_what_is_infinite_is_null() -> None:
    """JSON has no infinity, and no NaN."""

    told = as_json({"a": math.inf, "b": [math.nan, -math.inf, 1.5], "c": (1, "x", None)})
    assert told == {"a": None, "b": [None, None, 1.5], "c": [1, "x", None]}


def test_an_interval_has_its_level_beside_it() -> None:
    """Two ends as a list; null where the data do not bound that side."""
    interval = Interval(-2.5, math.inf, 0.97)
    step = Step(None, 1.0, 2.0, 1.0, interval)
    told = as_json(step)
    assert (told["interval_ms"], told["interval_confidence"]) == ([-2.5, None], 0.97)
