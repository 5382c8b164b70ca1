# SPDX-License-Identifier: Apache-2.0
"""Any program of the user's own, by a command template in the spec.

    client = { argv = ["my-client", "--ca", "{ca}", "{url}"], env = { SSLKEYLOGFILE = "{keylog}" } }
    server = { argv = ["my-server", "--port={port}", "--root={root}"], ready = "udp" }

Words in braces: {address} {port} {host} {url} {object} {protocol} {ip_version} {cert} {key} {ca} {root} {work}
{qlog_dir} {keylog} {output}, for a proxy {origin}. What a client must leave so that its trials count, its TLS keys in
{keylog} or an account in {output}, is in docs/how-to/own-programs.md; its body is compared if it is in {work}/body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.model.errors import SpecError
from quiclab.model.study import Program, Protocol, Tcp

_WORD = re.compile(r"\{([a-z_]+)\}")


class _OwnProgram:
    name = "command"
    role: Role
    protocols: frozenset[Protocol] = frozenset({"h1", "h2", "h3"})
    # The template says what a command does with a knob; naming the congestion control is for the report.
    knobs: Mapping[Protocol, frozenset[str]] = dict.fromkeys(get_args(Protocol), frozenset({"congestion_control"}))
    abilities: frozenset[Ability] = frozenset()

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Take the program as available: the spec names it, and its start shows whether it is there."""
        return Available("as the spec says")

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why the program cannot run: the spec must have a command template, which only the user can judge."""
        return None if program.argv else f"the {self.role} is a program of your own: the spec must give its argv"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Congestion control as the spec names it; the laboratory knows nothing else."""
        return (
            {"congestion_control": program.knobs.congestion_control or "not known (own program)"}
            if self.role != "client"
            else {}
        )

    def command(self, context: Context) -> Command:
        """Fill the placeholders in. Raises SpecError for one that does not exist."""
        words = {
            "address": context.address,
            "port": str(context.port),
            "host": context.host,
            "url": context.url,
            "object": context.object_name,
            "protocol": context.protocol,
            "ip_version": str(context.ip_version),
            "cert": str(context.certificate),
            "key": str(context.key),
            "ca": str(context.ca),
            "root": str(context.root),
            "work": str(context.work_dir),
            "qlog_dir": str(context.qlog_dir or ""),
            "keylog": str(context.keylog or ""),
            "output": str(context.output),
            "origin": context.origin.authority if context.origin else "",
        }

        def fill(text: str) -> str:
            def word(match: re.Match[str]) -> str:
                if match[1] not in words:
                    known = " ".join(f"{{{name}}}" for name in words)
                    raise SpecError(
                        f"{{{match[1]}}} in {text!r} is not a placeholder of a command template", f"known: {known}"
                    )
                return words[match[1]]

            return _WORD.sub(word, text)

        environment = {
            "HOME": str(context.work_dir),
            "TMPDIR": str(context.work_dir),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        environment |= {name: fill(value) for name, value in context.program.env}
        sockets = {"udp": ("udp",), "tcp": ("tcp",), "both": ("tcp", "udp"), "none": ()}[context.program.ready]
        return Command(
            argv=tuple(fill(argument) for argument in context.program.argv),
            env=environment,
            sockets=sockets if self.role != "client" else (),  # type: ignore[arg-type]
        )


class CommandServer(_OwnProgram):
    """The user's own server."""

    role: Role = "server"


class CommandProxy(_OwnProgram):
    """The user's own proxy; {origin} is the address and port of the server behind it."""

    role: Role = "proxy"
    origin_protocols: frozenset[Protocol] = frozenset(get_args(Protocol))


class CommandClient(_OwnProgram):
    """The user's own client."""

    role: Role = "client"
