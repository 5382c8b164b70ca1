# SPDX-License-Identifier: Apache-2.0
"""The bill of materials names every package that is locked, by another reading of the lock files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_NAMES = {"requirements*.lock": "pypi", "Cargo.lock": "cargo", "go.sum": "golang", "package-lock.json": "npm"}
_SKIPPED = {".venv", ".venv-site", ".stacks", "target", "node_modules", ".git"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bill of materials that `make sbom` writes."""
    file = tmp_path_factory.mktemp("sbom") / "quiclab.cdx.json"
    subprocess.run([sys.executable, "-W", "error", str(ROOT / "tools" / "sbom.py"), str(file)], check=True)
    return file


@pytest.fixture(scope="module")
def written(file: Path) -> dict[str, dict[str, object]]:
    """Package URL → component."""
    document = json.loads(file.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["name"] == "quiclab"
    return {component["purl"]: component for component in document["components"]}


def _lock_files(pattern: str) -> list[Path]:
    return [file for file in ROOT.rglob(pattern) if not _SKIPPED & set(file.relative_to(ROOT).parts)]


def _locked(kind: str, text: str) -> set[str]:
    """`NAME@VERSION` of each package."""
    if kind == "pypi":
        return {"@".join(found).lower() for found in re.findall(r"(?m)^(\S+)==([^ \\\n]+)", text)}
    if kind == "cargo":
        found = re.findall(r'\[\[package\]\]\nname = "(.+)"\nversion = "(.+)"\nsource = ', text)
        return {"@".join(each) for each in found}
    if kind == "golang":
        return {"@".join(line.split()[:2]) for line in text.splitlines() if "/go.mod " not in line}
    packages = json.loads(text)["packages"]
    return {f"{place.split('node_modules/')[-1]}@{each['version']}" for place, each in packages.items() if place}


@pytest.mark.parametrize(("pattern", "kind"), _NAMES.items())
def test_every_locked_package_is_in_it(written: dict[str, dict[str, object]], pattern: str, kind: str) -> None:
    """Of every lock file of the project, and nothing that none of them names."""
    files = _lock_files(pattern)
    assert files
    locked = set().union(*(_locked(kind, file.read_text()) for file in files))
    assert locked
    urls = [url.removeprefix(f"pkg:{kind}/").replace("%40", "@") for url in written if url.startswith(f"pkg:{kind}/")]
    assert {url.replace("%2B", "+") for url in urls} == locked


@pytest.mark.parametrize("kind", ["pypi", "cargo", "npm"])
def test_hashes_are_those_of_the_lock_files(written: dict[str, dict[str, object]], kind: str) -> None:
    """Every package has one; Go's are no hashes of files."""
    assert all(each.get("hashes") for url, each in written.items() if url.startswith(f"pkg:{kind}/"))


@pytest.mark.nightly
def test_it_is_of_the_schema_of_cyclonedx(file: Path) -> None:
    """The validator of the format's own library accepts it; that takes ten seconds."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text()) is None


@pytest.mark.nightly
def test_spdx_names_the_same_packages(tmp_path: Path, written: dict[str, dict[str, object]]) -> None:
    """Each once, with the same hashes, as something that quiclab depends on; the document follows from the locks."""
    command = [sys.executable, "-W", "error", str(ROOT / "tools" / "sbom.py")]
    files = [tmp_path / "one.spdx.json", tmp_path / "two.spdx.json"]
    subprocess.run([*command, *map(str, files)], check=True, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
    assert files[0].read_bytes() == files[1].read_bytes()
    document = json.loads(files[0].read_text())
    assert (document["spdxVersion"], document["creationInfo"]["created"]) == ("SPDX-2.3", "2023-11-14T22:13:20Z")
    (quiclab, *packages) = document["packages"]
    assert (quiclab["name"], quiclab["licenseDeclared"]) == ("quiclab", "Apache-2.0")
    by_url = {package["externalRefs"][0]["referenceLocator"]: package for package in packages}
    assert by_url.keys() == written.keys()
    assert len(by_url) == len({package["SPDXID"] for package in packages}) == len(packages)
    for url, package in by_url.items():
        assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"])
        hashes = {(each["alg"].replace("-", ""), each["content"]) for each in written[url].get("hashes", [])}
        assert {(each["algorithm"], each["checksumValue"]) for each in package["checksums"]} == hashes
    related = {(each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"])
               for each in document["relationships"]}  # fmt: skip
    assert ("SPDXRef-DOCUMENT", "DESCRIBES", quiclab["SPDXID"]) in related
    assert {to for of, kind, to in related if (of, kind) == (quiclab["SPDXID"], "DEPENDS_ON")} == {
        package["SPDXID"] for package in packages
    }


def test_a_file_of_no_known_format_is_told(tmp_path: Path) -> None:
    """By its ending, before anything is written."""
    command = [sys.executable, str(ROOT / "tools" / "sbom.py"), str(tmp_path / "sbom.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert ".spdx.json" in done.stderr
