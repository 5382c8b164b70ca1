# SPDX-License-Identifier: Apache-2.0
"""A URL of a server that is not the laboratory's, as `quiclab probe` compares it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from quiclab.spec.nodes import WrongValueError

_LONGEST_NAME = 60
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
HTTPS_PORT = 443


@dataclass(frozen=True)
class Target:
    """A URL that a probe requests."""

    name: str
    """Name of the target's workload in cells, files and figures."""
    url: str
    host: str
    """Host name in ASCII (RFC 5891)."""
    port: int
    path: str
    """Path after the first slash, with the query."""
    address: str = ""
    """IPv4 address that the requests of both protocols go to, once it is known."""

    @property
    def authority(self) -> str:
        """Host and port, which the bounds on requests and bytes protect."""
        return f"{self.host}:{self.port}"


def read_targets(urls: Sequence[str]) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """Targets with names that differ, and a sentence for each URL that cannot be one."""
    targets: list[Target] = []
    problems = []
    for url in dict.fromkeys(urls):
        try:
            target = read_target(url)
        except WrongValueError as error:
            problems.append(f"{url}: {error}")
            continue
        taken = {each.name for each in targets}
        names = (target.name, *(f"{target.name}-{number}" for number in range(2, len(urls) + 1)))
        targets.append(replace(target, name=next(name for name in names if name not in taken)))
    return tuple(targets), tuple(problems)


def read_target(url: str) -> Target:
    """Read an https URL. Raises WrongValueError that says what is wrong with it."""
    if _UNPRINTABLE.search(url):
        raise WrongValueError("there are blanks in it; write them as %20")
    try:
        parts = urlsplit(url)
        port = parts.port or HTTPS_PORT
        host = (parts.hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError) as error:
        raise WrongValueError(f"this is not a URL: {error}") from error
    if parts.scheme != "https" or not host:
        raise WrongValueError("write a whole URL that begins with https://; HTTP/3 exists for no other")
    if parts.username is not None or parts.password is not None:
        raise WrongValueError("it has a user name or password, which would stand in logs and in the report")
    if ":" in host:
        raise WrongValueError("an IPv6 address: a probe forwards IPv4 only")
    try:
        path = (parts.path.lstrip("/") if parts.path else "") + (f"?{parts.query}" if parts.query else "")
        path.encode("ascii")
    except UnicodeEncodeError as error:
        raise WrongValueError("write characters beyond ASCII as %XX") from error
    return Target(_name(host, port, path), url, host, port, path)


def _name(host: str, port: int, path: str) -> str:
    """Name of host, port if it is unusual, and path, in characters that file names can have."""
    text = host + (f"-{port}" if port != HTTPS_PORT else "") + (f"-{path}" if path else "")
    return re.sub(r"-?[^A-Za-z0-9._-]+", "-", text)[:_LONGEST_NAME].strip("-.") or "url"
