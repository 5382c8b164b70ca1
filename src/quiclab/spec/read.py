# SPDX-License-Identifier: Apache-2.0
"""A TOML spec → `Study`, with every default resolved; or one `SpecError` that names every offender.

>>> study = read_study(pathlib.Path("experiments/demo/spec.toml"))  # doctest: +SKIP
>>> study.paths[0].base_rtt  # doctest: +SKIP
Duration(ns=20000000)
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

from quiclab.model.bounds import MOST_BLOCKS, MOST_CELLS
from quiclab.model.errors import SpecError
from quiclab.model.study import AaControl, Arm, Limits, Path, Role, Study, Workload
from quiclab.model.units import ByteCount
from quiclab.spec import baselines, grid, json_form, kinds
from quiclab.spec.arms import arm_form, arm_keys, grid_form, read_arms
from quiclab.spec.competition_checks import captured_bytes, check_competitions
from quiclab.spec.control import usual_blocks
from quiclab.spec.lines import line_index
from quiclab.spec.nodes import (
    FAILED,
    Kind,
    Node,
    Source,
    Values,
    closest,
    form_of,
    read_keys,
    read_or_report,
    show,
    table,
)
from quiclab.spec.paths import PATH
from quiclab.spec.workloads import WORKLOAD

LEAST_QUIC_MTU = 1228
"""A path must carry UDP payloads of 1200 bytes (RFC 9000 section 14), with 20 bytes of IPv4 and 8 of UDP."""

MOST_WHOLE_CAPTURES = ByteCount(2 * 10**9)
"""Total size up to which captures keep whole packets by default."""

AA_KEYS: Mapping[str, Kind[Any]] = {"workload": kinds.NAME, "path": kinds.NAME, "blocks": kinds.whole(0, MOST_BLOCKS)}
_AA: Kind[dict[str, object]] = Kind(
    'a table such as {workload = "1MB", path = "plain", blocks = 9}',
    lambda node: read_keys(node, AA_KEYS),
    form_of(AA_KEYS, AaControl, ()),
)
_COUNTED: Kind[bool | int | str] = kinds.either(
    'true, false, "every block", or a whole number of blocks',
    kinds.FLAG,
    kinds.whole(1, MOST_BLOCKS),
    kinds.choice(("every block",)),
)
STUDY_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "question": kinds.TITLE,
    "seed": kinds.whole(0, 2**63 - 1),
    "blocks": kinds.whole(1, MOST_BLOCKS),
    "alpha": kinds.fraction(),
    "matters": kinds.PART,
    "metric": kinds.NAME,
    "baseline": kinds.NAME,
    "captures": kinds.choice(("whole", "headers")),
    "count_system_calls": _COUNTED,
    "aa": _AA,
    "only_blocks": kinds.several(kinds.NAME, "a list of ids of blocks"),
}
LIMITS_KEYS: Mapping[str, Kind[Any]] = {
    "trial": kinds.TIMEOUT,
    "ready": kinds.TIMEOUT,
    "disturbance": kinds.TOLERATED,
    "lateness_p99": kinds.TIME,
    "attempts": kinds.whole(1, 1000),
}
_NEEDED = ("name", "seed", "blocks")
_MOST_BYTES = 16_000_000
"""Most that is read of a spec: a device or a wrong file may have no end."""
_STUDY: Kind[dict[str, object]] = Kind(
    "a table", lambda node: read_keys(node, STUDY_KEYS, _NEEDED), form_of(STUDY_KEYS, Study, _NEEDED)
)
_LIMITS: Kind[Limits] = table("a table", Limits, LIMITS_KEYS)
_TABLES = ("study", "limits")
_ARRAYS = ("workload", "path", "arm")
_GRIDS: Mapping[str, json_form.Form] = {"workload": WORKLOAD.form, "path": PATH.form, "arm": grid_form()}
"""Arrays of tables in which a list of values makes a grid."""


def spec_form() -> json_form.Form:
    """Form of a whole spec; what its tables say of each other is left to the reader."""
    lists = {"workload": grid.with_lists(WORKLOAD.form), "path": grid.with_lists(PATH.form)}
    arms = grid.with_lists(arm_form(), only=(*get_args(Role), *grid.LABELS))
    return json_form.table(
        {
            "study": _STUDY.form,
            "limits": _LIMITS.form,
            **{name: json_form.array(form, 1) for name, form in (*lists.items(), ("arm", arms))},
        },
        ("study", *_ARRAYS),
    )


def read_study(path: pathlib.Path, programs: Mapping[str, Collection[str]] = {}) -> Study:
    """Read a spec. Names of programs are checked against `programs` (role → names) where these are given.

    Raises SpecError; `problems` has one line for each offender, in the order of the file.
    """
    source = load_spec(path)
    study = _study(Node(source.document, (), source), programs)
    check_problems(path, source, "docs/reference/spec.md describes every key")
    assert study is not None
    return study


def check_problems(path: pathlib.Path, source: Source, described: str) -> None:
    """Raise SpecError with all problems of a document that was read; `described` says where its keys are."""
    if source.problems:
        count = len(source.problems)
        told = f"{path} has {count} {'problem' if count == 1 else 'problems'}."
        raise SpecError(told, f"Mend these lines; {described}.", source.problems)


def gives_control(path: pathlib.Path) -> bool:
    """Return whether a spec that can be read says itself how many blocks its A/A control has."""
    study = load_toml(path).document.get("study", {})
    return "blocks" in study.get("aa", {})


def load_spec(path: pathlib.Path) -> Source:
    """Load a spec with a table for each combination of its lists, not checked yet. Raises SpecError as `load_toml`."""
    return grid.expanded(load_toml(path), _GRIDS)


def load_toml(path: pathlib.Path) -> Source:
    """Load a document with the lines of its keys, not checked yet. Raises SpecError where it is not TOML."""
    hint = "Mend this line first; whatever else is wrong is reported once the file can be read as TOML."
    if path.is_fifo() and not path.is_relative_to("/dev") and not path.is_relative_to("/proc"):
        # One without a writer would be waited for without end; a shell's <(command) is below /dev.
        raise SpecError(f"{path} is a named pipe, and not a file.", "Give the path of a spec, a TOML file.")
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            told = f"{path} has more than {_MOST_BYTES // 1_000_000} MB, and no spec has."
            raise SpecError(told, "Give the path of a spec, a TOML file.")
        text = content.decode("utf-8-sig")
        document = tomllib.loads(text)
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}.", "Give the path of a spec, a TOML file.") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SpecError(f"{path} is not TOML.", hint, (f"line {line}: this is not UTF-8 text",)) from error
    except RecursionError as error:
        deep = "Take levels out of its arrays and tables: no key of a spec needs more than a few."
        raise SpecError(f"{path} is not a spec: its arrays or tables are nested too deeply.", deep) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        what = str(error)[: place.start()] if place else str(error)
        column = f", column {place[2]}" if place and place[2] else ""
        raise SpecError(f"{path} is not TOML.", hint, (f"line {line}{column}: {what}",)) from error
    except ValueError as error:  # Python reads no number with more digits than sys.get_int_max_str_digits()
        problem = f"line {_line_of_long_number(text)}: this number has too many digits"
        raise SpecError(
            f"{path} cannot be read.", "No number of a spec has more than 20 digits.", (problem,)
        ) from error
    return Source(document, line_index(text), path.parent)


def _line_of_long_number(text: str) -> int:
    """The line of the number that is too long to read; digits in a text or a comment are none."""
    for digits in re.finditer(r"[0-9_]{1000,}", text):
        try:
            tomllib.loads(text[: digits.end()])
        except tomllib.TOMLDecodeError:
            continue
        except ValueError:
            return text.count("\n", 0, digits.start()) + 1
    return 1


def _study(top: Node, programs: Mapping[str, Collection[str]]) -> Study | None:
    for key in top.value:
        if key not in (*_TABLES, *_ARRAYS):
            told = closest(key, (*_TABLES, *_ARRAYS), "tables")
            of_study = f"`{key}` is a key of [study]; " if key in STUDY_KEYS else ""
            top.child(key).report(f"there is no such table; {of_study}{told}")
    own = _own_keys(top)
    nodes = {name: _array(top, name) for name in _ARRAYS}
    workloads = _all(nodes["workload"], WORKLOAD)
    paths = _all(nodes["path"], PATH)
    baseline = own.get("baseline")
    arms = read_arms(nodes["arm"], arm_keys(programs), baseline)
    compared = [node for node in nodes["arm"] if isinstance(node.value, dict) and not _only_competes(node)]
    measured = {name: _names([node for node in nodes[name] if not _only_competes(node)]) for name in _ARRAYS}
    _check_size(top, nodes)
    _check_measured(top, nodes)
    _check_quic_mtu(nodes["path"], paths, arms)
    check_proxy_places(nodes["arm"], paths)
    if baseline is not None:
        _check_known(
            top.child("study").child("baseline"),
            baseline,
            [*measured["arm"], *baselines.table_names(compared)],
            _measured_if_some_compete(nodes["arm"], "arms"),
        )
    for key in ("workload", "path"):
        if key in own.get("aa", {}):
            _check_known(
                top.child("study").child("aa").child(key),
                own["aa"][key],
                measured[key],
                _measured_if_some_compete(nodes[key], f"{key}s"),
            )
    limits = Limits()
    if "limits" in top.value:
        limits = read_or_report(top.child("limits"), _LIMITS)
    if limits is not FAILED:
        check_competitions(nodes["workload"], nodes["arm"], workloads, paths, arms, limits.trial)
    _check_watched(nodes["workload"], workloads, limits)
    if top.source.problems:
        return None
    smallest = min((each for each in workloads if each.only_for is None), key=lambda workload: workload.total)
    cells = len(paths) * sum(each.only_for is None for each in workloads)
    control = usual_blocks(cells, own["blocks"], own.get("alpha", Study.alpha))
    aa = {"workload": smallest.name, "path": paths[0].name, "blocks": control, **own.get("aa", {})}
    measured_arms = [arm for arm in arms if arm.only_for is None]
    over_tcp = sorted((arm for arm in measured_arms if arm.protocol != "h3"), key=lambda arm: arm.protocol != "h2")
    usual = next(iter(over_tcp), measured_arms[0]).name
    chosen = baselines.chosen(compared, None if baseline is None else top.child("study").child("baseline"), usual)
    if chosen is None:
        return None
    resolved = {"captures": _captures(workloads, paths, arms, own), **own, "baseline": chosen.first}
    arms = chosen.resolved(arms, nodes["arm"])
    resolved["aa"] = AaControl(**aa)
    return Study(workloads=tuple(workloads), paths=tuple(paths), arms=arms, limits=limits, **resolved)


def _captures(workloads: Sequence[Workload], paths: Sequence[Path], arms: Sequence[Arm], own: Values) -> str:
    """Default of `captures`: whole packets while the captures of both ends stay small."""
    one_of_each = sum(captured_bytes(workload, path) for workload in workloads for path in paths) * len(arms)
    return "whole" if 2 * one_of_each * own["blocks"] <= MOST_WHOLE_CAPTURES.bytes else "headers"


def _own_keys(top: Node) -> Values:
    """Values of the table [study]."""
    if "study" not in top.value:
        top.report("the table [study] is missing; write [study] with name, seed and blocks")
        return {}
    values = read_or_report(top.child("study"), _STUDY)
    return {} if values is FAILED else values


def _array(top: Node, name: str) -> list[Node]:
    if name not in top.value:
        top.report(f"[[{name}]] is missing; the matrix needs at least 1")
        return []
    node = top.child(name)
    if not isinstance(node.value, list):
        node.report(f"{show(node.value)}; write [[{name}]] with two brackets, once for each {name}")
        return []
    elements = list(node.elements())
    _report_duplicates(elements)
    return elements


def _all(nodes: Sequence[Node], kind: Kind[Any]) -> list[Any]:
    return [value for node in nodes if (value := read_or_report(node, kind)) is not FAILED]


def _names(nodes: Sequence[Node]) -> list[str]:
    """Names as written, including those of tables that are wrong elsewhere."""
    names = [node.value.get("name") for node in nodes if isinstance(node.value, dict)]
    return [name for name in names if isinstance(name, str)]


def _report_duplicates(nodes: Sequence[Node]) -> None:
    first: dict[str, Node] = {}
    for node in nodes:
        name = node.value.get("name") if isinstance(node.value, dict) else None
        if not isinstance(name, str):
            continue
        if name in first and node.source.in_file(node.path) == node.source.in_file(first[name].path):
            continue  # values of its lists, whose names were refused
        if name in first:
            place = first[name].source.line(first[name].path)
            node.child("name").report(f'"{name}" is already the name of the one in line {place}; names are unique')
        first.setdefault(name, node)


def _check_known(node: Node, name: str, known: Collection[str], what: str) -> None:
    if name not in known:
        node.report(f'"{name}" is not one of the {what}; {closest(name, known, what)}')


def _check_size(top: Node, nodes: Mapping[str, Sequence[Node]]) -> None:
    for name in _ARRAYS:
        if isinstance(top.value.get(name), list) and not nodes[name]:
            top.child(name).report(f"there are 0; the matrix needs at least 1 {name}")
    workloads, paths = sum(not _only_competes(node) for node in nodes["workload"]), len(nodes["path"])
    if workloads * paths > MOST_CELLS:
        told = f"{workloads} workloads over {paths} paths are {workloads * paths} cells"
        top.child("path").report(f"{told}; at most {MOST_CELLS} are possible")


def _only_competes(node: Node) -> bool:
    return isinstance(node.value, dict) and node.value.get("only_for") == "competition"


def _measured_if_some_compete(nodes: Sequence[Node], what: str) -> str:
    return f"measured {what}" if any(map(_only_competes, nodes)) else what


def _check_measured(top: Node, nodes: Mapping[str, Sequence[Node]]) -> None:
    """Report a matrix that is too small without those that only compete, which make no cells."""
    for name in ("workload", "arm"):
        if nodes[name] and all(map(_only_competes, nodes[name])):
            told = f"none of {len(nodes[name])} is measured, all are for competitions"
            top.child(name).report(f"{told}; the matrix needs at least 1 {name}")


def _check_watched(nodes: Sequence[Node], workloads: Sequence[Workload], limits: Any) -> None:
    """Report a trial that would be over before its video is."""
    if limits is FAILED:
        return
    measured = (each for each in workloads if each.only_for is None)
    too_long = [each.name for each in measured if each.video is not None and each.video.shown_length >= limits.trial]
    for node in nodes:
        if isinstance(node.value, dict) and node.value.get("name") in too_long:
            told = f"limits.trial stops the trial after {limits.trial}, before the video was watched"
            node.child("video").report(f"{told}; write a longer limits.trial or a shorter watch")


def _check_quic_mtu(nodes: Sequence[Node], paths: Sequence[Path], arms: Sequence[Arm]) -> None:
    too_small = {path.name for path in paths if path.mtu < LEAST_QUIC_MTU}
    if not any(arm.protocol == "h3" for arm in arms):
        return
    for node in nodes:
        if isinstance(node.value, dict) and str(node.value.get("name")) in too_small:
            node.child("mtu").report(
                f"{node.value['mtu']} is too small for h3: QUIC needs at least {LEAST_QUIC_MTU} (RFC 9000 section 14)"
            )


# Check that every path of the study has the places where arms want their proxies.
def check_proxy_places(arms: Sequence[Node], paths: Sequence[Path]) -> None:
    """Report every `proxy_at` that some path has no node for: all arms run over all paths."""
    for arm in arms:
        place = arm.value.get("proxy_at") if isinstance(arm.value, dict) else None
        if not isinstance(place, str) or place == Arm.proxy_at:
            continue
        for path in paths:
            behind = [link.name for link in path.links[:-1]]
            if place in behind:
                continue
            if place == path.links[-1].name:
                problem = f'"{place}" is the last link of path "{path.name}"; write "{Arm.proxy_at}"'
            elif not behind:
                problem = f'path "{path.name}" has one link only; describe several by [[path.link]]'
            else:
                known = [Arm.proxy_at, *behind]
                problem = f'path "{path.name}" has no node behind a link "{place}"; {closest(place, known, "places")}'
            if place == "client":
                problem += "; a proxy near the client stands behind a short first link, so that both legs have packets"
            arm.child("proxy_at").report(problem)
            break
