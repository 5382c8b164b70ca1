# SPDX-License-Identifier: Apache-2.0
"""What is written as a plugin is registered, and what lists name is there: a forgotten line is told here."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest
from registered import CLIENTS, PROXIES, SERVERS

import quiclab
from quiclab.lab.endpoints import ENDPOINTS, Endpoint, ecn
from quiclab.lab.workloads._api import WorkloadKind
from quiclab.lab.workloads._registry import WORKLOADS
from quiclab.logs.decoders._api import Decoder
from quiclab.logs.decoders._registry import DECODERS
from quiclab.logs.decoders.log_files import head_of
from quiclab.logs.exports import EXPORTS
from quiclab.logs.exports._api import Export
from quiclab.model.tables import TABLES

RECORDINGS = Path(__file__).parents[1] / "decoders"
SOURCE = Path(quiclab.__file__).parent
REGISTRIES: dict[str, tuple[type, Iterable[object]]] = {
    "logs/decoders": (Decoder, DECODERS),
    "lab/endpoints": (Endpoint, ENDPOINTS),
    "logs/exports": (Export, EXPORTS),
    "lab/workloads": (WorkloadKind, WORKLOADS),
}
"""Folder → the Protocol of its plugins, and their list."""
ONLY_PLUGINS = (
    "lab/endpoints/clients",
    "lab/endpoints/servers",
    "lab/endpoints/proxies",
    "logs/exports",
    "lab/workloads",
)
"""Folders in which every file without an underscore is a plugin."""


def public_modules(folder: str, pattern: str = "*.py") -> list[ModuleType]:
    """The modules of a folder whose names have no underscore in front."""
    files = sorted(file for file in (SOURCE / folder).glob(pattern) if not file.name.startswith("_"))
    return [
        importlib.import_module(".".join(["quiclab", *each.relative_to(SOURCE).with_suffix("").parts]))
        for each in files
    ]


def members(protocol: type) -> set[str]:
    """Names that a plugin must have."""
    return {name for name in vars(protocol) if not name.startswith("_")}


def plugins(module: ModuleType, protocol: type) -> list[type]:
    """Public classes of a module that have all that the Protocol asks for."""
    own = (each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == module.__name__)
    return [each for each in own if not each.__name__.startswith("_") and members(protocol) <= set(dir(each))]


@pytest.mark.parametrize("folder", REGISTRIES)
def test_every_plugin_is_registered_once(folder: str) -> None:
    """Each class that is one, in whichever file of the folder it stands."""
    protocol, listed = REGISTRIES[folder]
    written = [each for module in public_modules(folder, "**/*.py") for each in plugins(module, protocol)]
    assert sorted(each.__name__ for each in written) == sorted(type(each).__name__ for each in listed)
    assert len(written) == len(set(written))


@pytest.mark.parametrize("folder", ONLY_PLUGINS)
def test_every_file_of_a_folder_of_plugins_holds_one(folder: str) -> None:
    """What several of them share has an underscore in front of its name."""
    registered = {type(each).__module__ for _, listed in REGISTRIES.values() for each in listed}
    assert [module.__name__ for module in public_modules(folder) if module.__name__ not in registered] == []


NAME: dict[str, Callable[[object], object]] = {
    "logs/decoders": lambda each: each.format,  # type: ignore[attr-defined]
    "lab/endpoints": lambda each: (each.role, each.name),  # type: ignore[attr-defined]
    "logs/exports": lambda each: each.format,  # type: ignore[attr-defined]
    "lab/workloads": lambda each: each.kind,  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("folder", REGISTRIES)
def test_no_two_plugins_have_one_name(folder: str) -> None:
    """A name is how specs and commands ask for it."""
    names = [NAME[folder](each) for each in REGISTRIES[folder][1]]
    assert len(names) == len(set(names))


def test_decoders_fill_tables_that_there_are() -> None:
    """And those of logs, each of which some decoder fills."""
    filled = {table for decoder in DECODERS for table in decoder.tables}
    from_logs = {name for name, table in TABLES.items() if table.from_logs}
    assert filled == from_logs


def test_no_two_decoders_recognise_one_file() -> None:
    """Of recordings of many formats, as `quiclab decode` looks at them."""
    files = sorted(each for each in RECORDINGS.rglob("*") if each.suffix in (".gz", ".txt", ".har", ".json"))
    found = {file.name: [each.format for each in DECODERS if each.sniff(head_of(file))] for file in files}
    assert {name: formats for name, formats in found.items() if len(formats) > 1} == {}
    assert len({formats[0] for formats in found.values() if formats}) >= 4


def test_what_is_known_of_ecn_is_known_of_programs_that_there_are() -> None:
    """By the family's name, which a program of its own or the beginning of one has."""
    names = {endpoint.name for endpoint in ENDPOINTS}
    families = ecn._BY_FAMILY
    assert [family for family in families if not any(f"{name}-".startswith(f"{family}-") for name in names)] == []


def test_the_tests_try_every_program() -> None:
    """Whoever is neither a browser, a template, nor a variant of another."""
    assert {"curl", "quinn"} <= set(CLIENTS)
    assert {"caddy", "quinn"} <= set(SERVERS)
    assert set(PROXIES) == {endpoint.name for endpoint in ENDPOINTS if endpoint.role == "proxy"} - {"command"}
    left = {endpoint.name for endpoint in ENDPOINTS if endpoint.role == "client"} - set(CLIENTS)
    assert left == {"chromium", "firefox", "command"}
