# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference about plugins and tables; `generate_reference.py` writes them."""

from __future__ import annotations

from quiclab.cli.paths import toml
from quiclab.evidence.metrics import METRICS
from quiclab.lab.endpoints import ENDPOINTS
from quiclab.lab.endpoints._api import Endpoint
from quiclab.lab.endpoints.ecn import Ecn, ecn_of
from quiclab.model.study import Program, Tcp
from quiclab.model.tables import OF_STUDY, TABLES, Table
from quiclab.report.figures import FIGURES, Figure, Where
from quiclab.spec.profiles import profiles

_NOTE = "This page is generated from the source by `tools/generate_reference.py`.\n"


def tables_pages() -> dict[str, str]:
    """Return the list of tables, and the page of each with every column, by their paths in docs/reference."""
    overview = [
        "# Tables\n",
        "First the two of a whole study, then the decoded logs, one Parquet file per trial and table: "
        "`STUDY/tables/TABLE/TRIAL.parquet`. Times named `time_ns` are CLOCK_MONOTONIC of the machine that ran the "
        "trial unless a sentence says otherwise. The files of logs carry their units: their metadata has a JSON object "
        "of column and unit under the key `units`.\n",
        _NOTE.replace("This page is", "These pages are"),
    ]
    pages: dict[str, str] = {}
    for title, tables in (("Of a study", OF_STUDY), ("Of a trial", TABLES)):
        overview += [f"\n## {title}\n", "| table | columns | in it |", "|---|---|---|"]
        for table in tables.values():
            file = f"tables/{table.name}{'-of-one-trial' * _has_namesake(table)}.md"
            overview.append(f"| [`{table.name}`]({file}) | {len(table.columns)} | {_cell(table.doc)} |")
            pages[file] = _table_page(table)
    return {"tables.md": "\n".join(overview) + "\n", **pages}


def _has_namesake(table: Table) -> bool:
    """Tell whether a table of one trial has the name of one of the study."""
    return table.from_logs and table.name in OF_STUDY


def _table_page(table: Table) -> str:
    lines = [
        f"# {table.name}{', of one trial' * _has_namesake(table)}\n",
        f"{table.doc}\n",
        "| column | type | unit | null | meaning |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{column.name}` | {_cell(str(column.dtype))} | {column.unit} | {column.null} | {_cell(column.doc)} |"
        for column in table.columns
    ]
    return "\n".join([*lines, f"\n[All tables](../tables.md). {_NOTE}"])


def metrics_page() -> str:
    """Every metric with its definition."""
    head = [
        "# Metrics\n",
        "One number about one trial, in `STUDY/metrics.parquet`; null with a note where it is unknown. A study can be "
        "about any that has a better side: `metric` in `[study]`, or `quiclab report STUDY --metric NAME`.\n",
        _NOTE,
    ]
    rows = ["| metric | title | unit | better | definition |", "|---|---|---|---|---|"]
    rows += [
        f"| `{metric.name}` | {_cell(metric.title)} | {metric.unit} | {metric.better} | {_cell(metric.definition)} |"
        for metric in METRICS
    ]
    return "\n".join(head + rows) + "\n"


def endpoints_page() -> str:
    """Every endpoint with what decides its speed."""
    head = ["# Endpoints\n", "Programs that can take a role in an arm. `quiclab doctor` says which are here.\n", _NOTE]
    rows = ["| name | role | speaks | knobs | also | what decides its speed |", "|---|---|---|---|---|---|"]
    for endpoint in ENDPOINTS:
        told = []
        for protocol in sorted(endpoint.protocols):
            facts = endpoint.traits(Program(endpoint.name), protocol, Tcp("reno"))
            told += [f"{protocol}: {name.replace('_', ' ')} {value}" for name, value in facts.items()]
        speaks = ", ".join(sorted(endpoint.protocols))
        knobs = [
            f"{protocol}: {', '.join(sorted(names))}" for protocol, names in sorted(endpoint.knobs.items()) if names
        ]
        also = ", ".join([*sorted(endpoint.abilities), *_ecn(endpoint)]).replace("_", " ")
        cells = (speaks, "; ".join(knobs), also, "; ".join(told))
        rows.append(f"| `{endpoint.name}` | {endpoint.role} | {' | '.join(map(_cell, cells))} |")
    return "\n".join(head + rows) + "\n"


def _ecn(endpoint: Endpoint) -> list[str]:
    """Use of ECN by a QUIC program by default."""
    known = ecn_of(Program(endpoint.name)) if "h3" in endpoint.protocols else Ecn(None, None)
    return ["sends ECT(0)"] * bool(known.sends) + ["reports ECN counts"] * bool(known.reports)


def paths_page() -> str:
    """Every path that has a name, with the source of its numbers."""
    parts = [
        "# Paths by name\n",
        '`profile = "lte"` in a `[[path]]`, or `quiclab exec --profile lte`, begins with these keys, and every other '
        "key overrides; a key for both directions also overrides what the profile says for one. `quiclab paths` "
        "lists them. A preset is made up by those who publish it: no network was measured for it.\n",
        _NOTE,
    ]
    for name, profile in profiles().items():
        parts += [f"\n## {name}\n", f"{profile.title}. Source ({profile.kind}): {profile.source} <{profile.url}>\n"]
        parts += [f"Chosen here: {profile.chosen}\n", "```toml", f'profile = "{name}"  # as if this stood here:']
        parts += [*(f"{key} = {toml(value)}" for key, value in profile.path.items()), "```"]
    return "\n".join(parts) + "\n"


def figures_page() -> str:
    """Every figure with the question that it answers, its place, and its data."""
    head = [
        "# Figures\n",
        "Each answers one question. Those of the report have their data beside it, in `STUDY/report/data` (of the page "
        "of another metric in `STUDY/report-METRIC/data`). The page of a pair holds every point that it draws, and "
        "under each figure stands the command that writes its table: `quiclab figure NAME STUDY --cell CELL --block "
        "BLOCK -o NAME.csv`. `quiclab figure NAME STUDY -o FILE` draws any of them alone, as .html, .pdf, .svg or "
        ".png, and writes its data beside it.\n",
        _NOTE,
    ]
    rows = ["| figure | question | where | its data |", "|---|---|---|---|"]
    rows += [f"| `{figure.name}` | {_cell(figure.question)} | {_figure_place(figure)} |" for figure in FIGURES]
    return "\n".join(head + rows) + "\n"


_OWN_PLACES = {
    "differences": "report | `differences.csv`",
    "distributions": "report, as boxes or violins | `distributions.csv`",
    "cumulative": "report, in the place of `distributions` by choice | `distributions.csv`",
    "bytes_acknowledged": "report, thinned; pairs, whole | `bytes_acknowledged.parquet`; by command",
    **dict.fromkeys(("states", "state_machine"), "pairs, of their trials; a whole cell by command | by command"),
    "path": "report, under “Can it be trusted?” | `path.csv`",
    "cost": "report, under “What it cost” | `cost.csv`, `system_calls.csv`",
}


def _figure_place(figure: Figure) -> str:
    """Place of a figure, and the file with its data."""
    if figure.where is Where.PAIR and figure.name not in _OWN_PLACES:
        return "pairs | by command"
    return _OWN_PLACES.get(figure.name, f"report, where there is something for it | `{figure.name}.csv`")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
