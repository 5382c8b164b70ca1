# SPDX-License-Identifier: Apache-2.0
"""The steps of one trial of a probe, once its namespaces are there.

start_early ─▶ transfer ─▶ end
"""

from __future__ import annotations

from quiclab.lab.endpoints import Command
from quiclab.lab.runner.observation import Observation
from quiclab.lab.runner.running_trial import RunningTrial
from quiclab.lab.runner.topology import Topology
from quiclab.lab.testbed.forwarded import ForwardedWay
from quiclab.lab.testbed.link import Link
from quiclab.lab.testbed.namespace import RouteMetrics
from quiclab.lab.testbed.process import Process
from quiclab.model.errors import TrialError

CLIENT = "curl-cffi"
_GRACE_S = 1.0


class ProbeTransfer:
    """The client and the link of one trial; the server is somebody else's.

    `transfer` raises TrialError where the client fails; `end` follows all the same.
    """

    _client: Process
    _link: Link

    def __init__(self, trial: RunningTrial, topology: Topology, observation: Observation) -> None:
        self._trial = trial
        self._topology = topology
        self._observation = observation

    def start_early(self, command: Command, way: ForwardedWay) -> None:
        """Start the client, which waits for its go, and the link; behind that lies `way`."""
        trial, namespaces = self._trial, self._topology.namespaces
        trial.real("client", trial.raw / "client-qlog").mkdir()
        for file, content in command.files.items():
            trial.real("client", file).write_text(content)
        trial.jails.build()
        self._client = trial.resources.enter_context(
            Process(
                f"the client ({CLIENT})",
                command.argv,
                command.env,
                namespaces["client"],
                work_dir=trial.home,
                output=trial.raw / "client.out",
                jail=trial.jails.jail("client"),
                waits_for_go=True,
            )
        )
        self._observation.watch("client", self._client)
        self._link = trial.resources.enter_context(self._topology.link())
        route = RouteMetrics(trial.arm.tcp.congestion_control, trial.arm.tcp.initial_window)
        trial.resources.enter_context(way.open(namespaces["client"], namespaces["server"], route))
        trial.record.phase("link")

    def transfer(self) -> None:
        """Say "go", and wait for the client's end."""
        limit = self._trial.laboratory.study.limits.trial
        self._observation.begin()
        self._client.go()
        code = self._client.wait(limit.s)
        if code is None:
            raise TrialError(f"the client did not end within {limit} (--timeout)")
        if code != 0:
            words = self._client.last_words() or "it printed nothing"
            raise TrialError(f"the client ended with exit code {code}: {words}")
        self._trial.record.client_exit_code = code

    def killed_from_outside(self) -> str | None:
        """Sentence about a client that was killed from outside; None where it was not."""
        return self._client.killed_from_outside()

    def end(self) -> dict[str, object]:
        """Close the link and end the client, whether the transfer went well or not; return the link's summary."""
        record = self._trial.record
        self._observation.end()
        record.phase("transfer")
        summary = self._link.stop()
        record.phase("link_stop")
        self._client.end(_GRACE_S)
        self._observation.ended("client", self._client)
        return summary
