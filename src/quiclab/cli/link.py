# SPDX-License-Identifier: Apache-2.0
"""`quiclab link`: show and change the settings of a link that `quiclab exec --control` runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.cli.link_options import add_change_options, given_settings

_DESCRIPTION = """\
Show the settings of the link that `quiclab exec --control SOCKET` runs, or change those that are given.

A change holds for the packets that come from then on; those that are in the link keep the delay, the rate and the fate
that they were given. Nothing else changes its course: the same losses come to what was not changed. The schedule of a
path goes on. link.json of `exec --log` has all changes with their times.
"""

_EPILOG = """\
examples:
  quiclab exec --rate 10mbit --delay 20ms --control /tmp/mine -- bash
  quiclab link /tmp/mine
  quiclab link /tmp/mine --delay 80ms --down-loss 2%
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser("link", help="show and change a running link", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("socket", type=Path, metavar="SOCKET", help="place that `quiclab exec --control` was given")
    add_change_options(parser)
    parser.add_argument("--link", metavar="NAME", help="which link of a path with several (default: the client's)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask the running link, and print its settings."""
    from quiclab.cli.plan_text import direction_text
    from quiclab.lab.testbed.control_socket import ask
    from quiclab.model.units import Duration
    from quiclab.spec.live_path import LivePath, settings_at

    settings = given_settings(arguments)
    answer = ask(arguments.socket, {"set": settings, "link": arguments.link})
    table, at_ns = answer["path"], answer["at_ns"]
    assert isinstance(table, dict)
    assert isinstance(at_ns, int)
    path, at = LivePath(table, Path(str(answer["folder"]))).read(), Duration(at_ns)
    print(f"{'changed' if any(settings.values()) else 'running'} at {at.s:.3f} s")
    for link in path.links:
        name = f"{link.name}, " if path.more_links else ""
        for side, direction in (("up", link.up), ("down", link.down)):
            # A change before the first packet is noted a nanosecond after it.
            print(f"{name}{side}: {direction_text(settings_at(direction, at + Duration(1000)), path)}")
    return 0
