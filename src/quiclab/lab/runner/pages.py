# SPDX-License-Identifier: Apache-2.0
"""Means to serve a page: its files in a root of their own, and for every host an address and a certificate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.endpoints import PageContext, ServedHost
from quiclab.lab.testbed.certificates import Certificates, lend, make_certificates
from quiclab.lab.testbed.link import SERVER_ADDRESSES, host_address
from quiclab.lab.workloads import Site
from quiclab.model.study import Certificate, Protocol, Workload

_VERSIONS: Mapping[str, tuple[Protocol, ...]] = {"h3": ("h1", "h2", "h3"), "h2": ("h1", "h2"), "h1": ("h1",)}


@dataclass(frozen=True)
class ServedPage:
    """One page workload, ready to be served."""

    root: Path
    site: Site
    certificates: Mapping[str, Mapping[Certificate, Certificates]]
    """Host → its certificates, of every kind."""

    @property
    def document(self) -> str:
        """Path below `/` of what is loaded."""
        return self.site.requests[0]

    def context(self, kind: Certificate, ip_version: int, limit_s: float, front: str) -> PageContext:
        """The page for an endpoint's command; `front` is the address of the front, which is the first host."""
        served = []
        for number, host in enumerate(self.site.hosts):
            own = self.certificates[host.name][kind]
            address = _address(number, ip_version) if number else front
            served.append(ServedHost(host.name, address, _VERSIONS[host.highest], own.certificate, own.key))
        resources = self.site.manifest["resources"]
        return PageContext(self.document, tuple(served), len(resources), limit_s, self.site.waits)

    def addresses(self, ip_version: int) -> tuple[str, ...]:
        """Addresses of the hosts beside that of the document, which has the front's."""
        return tuple(_address(number, ip_version) for number in range(1, len(self.site.hosts)))


def _address(number: int, ip_version: int) -> str:
    return host_address(number, ip_version) if number else SERVER_ADDRESSES[ip_version]


def place_page(
    work_dir: Path,
    tls: Path,
    kinds: Collection[Certificate],
    workload: Workload,
    site: Site,
    warm_up: tuple[str, bytes],
) -> ServedPage:
    """Write the files of a page below `work_dir`, with the object of the warm-up beside them, and make certificates."""
    root = work_dir / f"www-{workload.name}"
    for name, content in (*site.files.items(), warm_up):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    certificates = {}
    for number, host in enumerate(site.hosts):
        made = make_certificates(tls, [_address(number, version) for version in (4, 6)], kinds, host.name)
        certificates[host.name] = {kind: lend(each, work_dir / "tls") for kind, each in made.items()}
    return ServedPage(root, site, certificates)
