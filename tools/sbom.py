# SPDX-License-Identifier: Apache-2.0
"""Write what quiclab is made of as CycloneDX or SPDX, both JSON: every package of every lock file, with its hash.

usage: sbom.py FILE…      each ends in .cdx.json or .spdx.json

These are packages of Python, Rust, Go and npm, including those that only development, fuzzing or `make stacks` needs.
`make sbom` runs it.

CycloneDX's own tool reads the lock files of Python, and its library checks the document against the standard's schema.
The others are read here: cargo-cyclonedx leaves out what only tests need, and writes a file beside each manifest; of Go
and npm there is one file each, which needs no compiler and no node to be read.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL
from spdx import spdx

ROOT = Path(__file__).resolve().parents[1]


def _release_locks(name: str) -> list[str]:
    """Locks of older releases, each below `programs/releases`."""
    return sorted(file.relative_to(ROOT).as_posix() for file in ROOT.glob(f"programs/releases/*/*/{name}"))


PYTHON = (
    *("requirements.lock", "requirements-dev.lock", "requirements-stacks.lock", "requirements-docs.lock"),
    *_release_locks("requirements.lock"),
)
RUST = (
    "Cargo.lock",
    "crates/log-decode/fuzz/Cargo.lock",
    "crates/stack-quiche/Cargo.lock",
    "crates/stack-quinn/Cargo.lock",
    *_release_locks("Cargo.lock"),
)
GO = ("programs/quic-go/go.sum", *_release_locks("go.sum"))
NPM = ("programs/speedline/package-lock.json",)
# What it prints is not validated: what is written in the end is.
CYCLONEDX_PY = (
    *(sys.executable, "-m", "cyclonedx_py", "requirements"),
    *("--output-reproducible", "--short-PURLs", "--spec-version", "1.6", "--output-format", "JSON", "--no-validate"),
)


def python_packages(file: Path) -> Iterator[tuple[PackageURL, list[HashType]]]:
    """Packages of a requirements file, each with the hashes of all its files, as cyclonedx-py reads them."""
    done = subprocess.run([*CYCLONEDX_PY, str(file)], check=True, capture_output=True, text=True)
    for component in Bom.from_json(json.loads(done.stdout)).components:
        yield component.purl, [each for place in component.external_references for each in place.hashes]


def rust_packages(file: Path) -> Iterator[tuple[PackageURL, list[HashType]]]:
    """Packages of a Cargo.lock, except our own."""
    for package in tomllib.loads(file.read_text())["package"]:
        if "source" in package:
            checksum = package.get("checksum")
            yield (
                PackageURL("cargo", None, package["name"], package["version"]),
                [_sha256(checksum)] if checksum else [],
            )


def go_modules(file: Path) -> Iterator[tuple[PackageURL, list[HashType]]]:
    """Modules of a go.sum whose code is used, without those that only took part in choosing versions."""
    for module, version, _ in (line.split() for line in file.read_text().splitlines()):
        if not version.endswith("/go.mod"):
            namespace, _, name = module.rpartition("/")
            yield PackageURL("golang", namespace, name, version), []  # h1: is the hash of a list of hashes


def npm_packages(file: Path) -> Iterator[tuple[PackageURL, list[HashType]]]:
    """Packages of a package-lock.json (version 3), except our own."""
    for place, package in json.loads(file.read_text())["packages"].items():
        namespace, _, name = place.rpartition("node_modules/")[2].rpartition("/")
        if name:
            algorithm, _, digest = package["integrity"].partition("-")
            hexadecimal = base64.b64decode(digest).hex()
            kind = {"sha512": HashAlgorithm.SHA_512, "sha1": HashAlgorithm.SHA_1}[algorithm]
            yield (
                PackageURL("npm", namespace or None, name, package["version"]),
                [HashType(alg=kind, content=hexadecimal)],
            )


READERS = ((PYTHON, python_packages), (RUST, rust_packages), (GO, go_modules), (NPM, npm_packages))


def bill_of_materials(root: Path) -> Bom:
    """Each package once, with the lock files that name it."""
    found: dict[str, tuple[PackageURL, list[HashType], list[str]]] = {}
    for files, read in READERS:
        for file in files:
            for url, hashes in read(root / file):
                found.setdefault(url.to_string(), (url, hashes, []))[2].append(file)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    bom = Bom(components=[_component(*each) for each in found.values()])
    bom.metadata.component = Component(
        name=project["name"], version=project["version"], bom_ref="quiclab", type=ComponentType.APPLICATION
    )
    bom.register_dependency(
        bom.metadata.component, bom.components
    )  # flat: not every lock file says which package needs which
    return bom


def _component(url: PackageURL, hashes: Iterable[HashType], files: Iterable[str]) -> Component:
    locked = [Property(name="quiclab:lock-file", value=file) for file in sorted(set(files))]
    return Component(
        name=url.name, group=url.namespace, version=url.version, purl=url, bom_ref=url.to_string(),
        type=ComponentType.LIBRARY, hashes=hashes, properties=locked,
    )  # fmt: skip


def _sha256(content: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=content)


def main() -> int:
    """Write the files that are named, each in the format of its ending."""
    for name in sys.argv[1:]:
        if not name.endswith((".spdx.json", ".cdx.json")):
            print(f"{name} says not in which format: its name ends in .cdx.json or .spdx.json", file=sys.stderr)
            return 2
    bom = bill_of_materials(ROOT)
    for name in sys.argv[1:]:
        if name.endswith(".spdx.json"):
            text = json.dumps(spdx(bom), indent=1)
        else:
            # Imported here, because that takes seconds: it compiles a grammar of addresses.
            from cyclonedx.validation.json import JsonStrictValidator

            text = JsonV1Dot6(bom).output_as_string(indent=1)
            if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
                print(f"{name} is not as the standard has it: {wrong}", file=sys.stderr)
                return 1
        Path(name).write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
