# SPDX-License-Identifier: Apache-2.0
"""The bill of materials as an SPDX 2.3 document in JSON, made from the CycloneDX one.

The libraries for SPDX bring RDF, XML and YAML along; the JSON form is one table of packages and one of relationships.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import UTC, datetime
from typing import Any

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component

_DOCUMENT, _ROOT = "SPDXRef-DOCUMENT", "SPDXRef-quiclab"


def spdx(bom: Bom) -> dict[str, Any]:
    """The document: quiclab, each package that a lock file names, and that quiclab depends on it.

    Its time is $SOURCE_DATE_EPOCH, else now; its namespace names its content, so that the same packages give the same.
    """
    project = bom.metadata.component
    assert project is not None
    packages = [_package(component) for component in bom.components]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    when = float(os.environ.get("SOURCE_DATE_EPOCH") or datetime.now(UTC).timestamp())
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": _DOCUMENT,
        "name": f"{project.name}-{project.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{project.name}-{project.version}-{digest[:32]}",
        "creationInfo": {
            "created": datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: {project.name}-sbom-{project.version}"],
        },
        "packages": [
            {
                "SPDXID": _ROOT,
                "name": project.name,
                "versionInfo": project.version,
                "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False,
                "licenseConcluded": "Apache-2.0",
                "licenseDeclared": "Apache-2.0",
                "copyrightText": "NOASSERTION",
            },
            *packages,
        ],
        "relationships": [
            _relationship(_DOCUMENT, "DESCRIBES", _ROOT),
            *(_relationship(_ROOT, "DEPENDS_ON", package["SPDXID"]) for package in packages),
        ],
    }


def _package(component: Component) -> dict[str, Any]:
    url = component.purl.to_string() if component.purl else component.name
    checksums = sorted((hashed.alg.value.replace("-", ""), hashed.content) for hashed in component.hashes)
    files = ", ".join(sorted(each.value or "" for each in component.properties))
    return {
        "SPDXID": f"SPDXRef-{re.sub(r'[^A-Za-z0-9.]+', '-', url)}",
        "name": f"{component.group}/{component.name}" if component.group else component.name,
        "versionInfo": component.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": kind, "checksumValue": content} for kind, content in checksums],
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}],
        "comment": f"Named by {files}. Each checksum is that of one of the files that the version was published as.",
    }


def _relationship(of: str, kind: str, to: str) -> dict[str, str]:
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to}
