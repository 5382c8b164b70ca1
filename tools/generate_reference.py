# SPDX-License-Identifier: Apache-2.0
"""Write the generated pages of docs/reference: the spec from its dataclasses, and the lists of plugins and tables.
Of docs/explanation/account.md it writes the tables of labels, for editors the JSON Schema of a spec, and for verbs that
only read tables the names of all metrics.

usage: generate_reference.py [--check]      --check writes nothing and fails where a page is out of date
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import causes_page
import json_reference
import label_tables
import reference_pages
import spec_schema
from field_docs import field_docs

from quiclab.evidence.made_by import DECLARED_METRICS
from quiclab.evidence.metrics import METRICS
from quiclab.model import address_change, study
from quiclab.model.nat import Nat
from quiclab.model.page import Page, Resources, ThirdParties
from quiclab.spec import aqm, arms, directions, effects, impairments, paths, random_rate, read, workloads
from quiclab.spec.arms import KNOB_KEYS
from quiclab.spec.editor_schema import SCHEMA
from quiclab.spec.nodes import Kind
from quiclab.spec.page import PAGE_KEYS, RESOURCES_KEYS, THIRD_PARTIES_KEYS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
SPLIT = ("tables", "causes")
"""Folders with a page for each entry of the page of their name; a page of none is removed."""
ACCOUNT = FOLDER.parent / "explanation" / "account.md"
"""Page whose tables of labels alone are generated."""

INTRODUCTION = """\
# The spec

A spec is one TOML file. It says what is compared (`[[arm]]`), for which work (`[[workload]]`) and over which networks
(`[[path]]`); every combination is a cell, and every cell runs `blocks` times. A wrong spec is refused with every
offender at once, each with its line. `quiclab plan --schema` has the schema for
[editors](../how-to/write-a-study.md#let-an-editor-help).

Quantities are texts with a unit. Rates: `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s`. Times: `ns`, `us`, `ms`, `s`, `min`.
Sizes: `B`, `KB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB`, `GiB` (powers of 1024). Shares: `%`. Rates, queues and
sizes count IP packet bytes. `up` is from client to server, `down` from server to client.

A list where one value is wanted, anywhere in a `[[path]]` or `[[workload]]`, makes a grid: a table for each value, or
for each combination of several lists ([how](../how-to/write-a-study.md#vary-several-things)). A key whose value is a
list by itself (`queue`, `loss`, `sizes`) takes a list of lists. In an `[[arm]]` the programs, and keys of their tables,
take lists ([how](../how-to/write-a-study.md#vary-servers-and-clients)). Lists of one table have at most 1000
combinations, a study at most 10,000 cells.

This page is generated from the source by `tools/generate_reference.py`.
"""

Keys = Mapping[str, Kind[Any]]


def page() -> str:
    """The reference of the spec as Markdown."""
    parts = [
        INTRODUCTION,
        _section("[study]", study.Study, read.STUDY_KEYS),
        _section("aa (in [study])", study.AaControl, read.AA_KEYS, optional=True),
        _section("[limits]", study.Limits, read.LIMITS_KEYS),
        _section("[[workload]]", study.Workload, workloads.WORKLOAD_KEYS),
        _section("page (in [[workload]])", Page, PAGE_KEYS, optional=True),
        _section("resources (of a page)", Resources, RESOURCES_KEYS),
        _section("third_party (of a page)", ThirdParties, THIRD_PARTIES_KEYS),
        _section("[workload.video]", study.Video, workloads.VIDEO_KEYS),
        _section("address_change (in [[workload]])", address_change.AddressChange, workloads.ADDRESS_CHANGE_KEYS),
        _section("competition (in [[workload]])", study.Competition, workloads.COMPETITION_KEYS),
        _section("competitors (in competition)", study.Competitor, workloads.COMPETITOR_KEYS),
        _section("background (in competition)", study.Background, workloads.BACKGROUND_KEYS),
        _section("[[path]]", study.Path, _without(paths.PATH_KEYS, "link", *directions.DIRECTION_KEYS), more=_MORE),
        _section("[[path.link]]", study.Link, _without(paths.LINK_KEYS, *directions.DIRECTION_KEYS), more=_MORE),
        _section("nat (in [[path]] or [[path.link]])", Nat, paths.NAT_KEYS),
        _section(
            "Keys of a direction (in [[path]] or [[path.link]] for both, in [path.up] or [path.link.up] for one)",
            study.Direction,
            directions.DIRECTION_KEYS,
        ),
        _section("rate = {least, most, every}", study.RandomRate, random_rate.RANDOM_RATE_KEYS),
        _queue(),
        *(_section(f'aqm = {{model = "{name}"}}', cls, keys) for name, (cls, keys) in aqm.AQM_MODELS.items()),
        *(_section(name, effect.declared, effect.keys) for name, effect in effects.EFFECTS.items()),
        _section("jitter", study.Jitter, impairments.JITTER_KEYS),
        *(_section(f'loss = {{model = "{name}"}}', cls, keys) for name, (cls, keys) in impairments.LOSS_MODELS.items()),
        _section("drop, spare", study.Addresses, directions.ADDRESS_KEYS),
        _section("reorder", study.Reorder, impairments.REORDER_KEYS),
        _section("schedule", study.Change, impairments.CHANGE_KEYS, lookup=(study.Change, study.Direction)),
        _section("[[arm]]", study.Arm, arms.arm_keys()),
        _section("client, server, proxy", study.Program, arms.PROGRAM_KEYS, optional=True),
        _section("Knobs (keys of client, server and proxy)", study.Knobs, KNOB_KEYS),
        "Placeholders in `argv` and `env`: " + ", ".join(f"`{{{name}}}`" for name in study.PLACEHOLDERS) + ".\n",
        _section("certificate", study.Certificate, arms.CERTIFICATE_KEYS),
        _section("tcp", study.Tcp, arms.TCP_KEYS),
    ]
    return "\n".join(parts)


_MORE = {
    "rtt": "Round-trip time of the link without queues, in place of `delay`: half of it is the delay of each direction."
}


def _without(keys: Keys, *names: str) -> Keys:
    return {name: kind for name, kind in keys.items() if name not in names}


def _section(
    title: str,
    cls: type[Any],
    keys: Keys,
    *,
    optional: bool = False,
    lookup: Iterable[type[Any]] | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A section about the keys of a dataclass; `more` has the meaning of those that are no fields of it."""
    docs: dict[str, str] = {}
    for described in lookup or (cls,):
        docs = {**field_docs(described), **docs}
    fields = {field.name: field for field in dataclasses.fields(cls)}
    lines = [f"## `{title}`" if " (" not in title else f"## {title}", "", _first_paragraph(cls), ""]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, kind in keys.items():
        if key in more:
            lines.append(f"| `{key}` | {_cell(kind.wanted)} | none | {_cell(more[key])} |")
            continue
        default = "" if optional and fields[key].default is dataclasses.MISSING else _default(cls, key, fields[key])
        lines.append(f"| `{key}` | {_cell(kind.wanted)} | {_cell(default)} | {_cell(docs[key])} |")
    return "\n".join([*lines, ""])


def _queue() -> str:
    lines = ["## `queue`", "", _first_paragraph(study.Queue), "", "| value | meaning |", "|---|---|"]
    examples = {"bdp": '"1 bdp"', "packets": '"100 packets"', "bytes": '"64 KB"', "time": '"20 ms"'}
    docs = field_docs(study.Queue)
    lines += [f"| `{example}` | {_cell(docs[field])} |" for field, example in examples.items()]
    lines += ['| `["1 bdp", "100 packets"]` | Both bounds. |', '| `"unbounded"` | No packet is dropped here. |', ""]
    return "\n".join(lines)


def _first_paragraph(cls: type[Any]) -> str:
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def _default(cls: type[Any], key: str, field: dataclasses.Field[Any]) -> str:
    if (cls, key) in _RESOLVED:
        return _RESOLVED[cls, key]
    if field.default is not dataclasses.MISSING:
        value = field.default
        if cls is study.Knobs:
            return "the program's own"
        if value is None or value in ("", ()):
            return "none"
        if isinstance(value, bool):
            return str(value).lower()
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return "required"


_RESOLVED: dict[tuple[type[Any], str], str] = {
    (study.Study, "baseline"): "first h2 arm, else the first over TCP, else the first",
    (study.Study, "aa"): "smallest workload, first path",
    (study.Path, "title"): "the profile's title, or the name",
    (study.Path, "up"): "as for both",
    (study.Path, "down"): "as for both",
    (study.Link, "up"): "as for both",
    (study.Link, "down"): "as for both",
    (study.Direction, "edge"): "max(1 Gbit/s, 10 × rate)",
    (study.Direction, "queue"): "1 bdp",
    (study.Direction, "rate"): "unlimited",
    (study.Arm, "tcp"): "see meaning",
    (study.Study, "metric"): "for pages `plt_ms`, for videos `startup_ms`, else `ttlb_ms`",
}
"""Defaults that the reader of specs derives, in words."""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the pages, or check them."""
    pages = {
        "spec.md": page(),
        **reference_pages.tables_pages(),
        "metrics.md": reference_pages.metrics_page(),
        "endpoints.md": reference_pages.endpoints_page(),
        "figures.md": reference_pages.figures_page(),
        **causes_page.causes_pages(),
        "paths.md": reference_pages.paths_page(),
        "json.md": json_reference.json_page(),
    }
    files = {FOLDER / name: text for name, text in pages.items()}
    files[SCHEMA] = spec_schema.schema_text()
    files[DECLARED_METRICS] = json.dumps({metric.name: metric.unit for metric in METRICS}, indent=1) + "\n"
    files[ACCOUNT] = label_tables.with_tables(ACCOUNT.read_text(encoding="utf-8"))
    check = "--check" in sys.argv[1:]
    stale = [file for file, text in files.items() if not _is_written(file, text)]
    left = [file for folder in SPLIT for file in (FOLDER / folder).glob("*.md") if file not in files]
    for target in (*stale, *left) if check else ():
        print(f"{target} is out of date: run tools/generate_reference.py", file=sys.stderr)
    if check:
        return int(bool(stale or left))
    for target in stale:
        target.parent.mkdir(exist_ok=True)
        target.write_text(files[target], encoding="utf-8")
    for file in left:
        file.unlink()
    return 0


def _is_written(target: Path, text: str) -> bool:
    return target.exists() and target.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
