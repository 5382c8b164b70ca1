# SPDX-License-Identifier: Apache-2.0
"""An attempt at a trial, as its trial.json has it: the record that everything reads.

The laboratory writes what was asked for and what it saw, `quiclab.evidence.verify` adds proof and verdict. A member
that an earlier version of quiclab did not write, or that does not apply, has its default.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from quiclab.model.client_account import ClientAccount, ClientRequest
from quiclab.model.expected_content import Expected
from quiclab.model.host_findings import Host
from quiclab.model.link_account import LinkAccount, Number
from quiclab.model.proof_record import Proof


class RecordedRow(msgspec.Struct, frozen=True):
    """Row of the plan (`plan_row.PlanRow`) that a trial was run for."""

    trial_id: str | None = None
    block_id: str | None = None
    kind: str | None = None
    cell_id: str | None = None
    workload: str | None = None
    path: str | None = None
    arm: str | None = None
    arm_name: str | None = None
    baseline_arm: str | None = None
    block: int | None = None
    position: int | None = None
    seed: int | str | None = None


class Asked(msgspec.Struct, frozen=True):
    """Demands of the spec on the handshake and on the connection."""

    congestion_control: str | None = None
    session: str | None = None
    """`fresh`, `resumed` or `early_data`."""
    http_cache: bool | None = None
    address_token: bool | None = None
    expect_early_data: str | None = None
    """`accepted` or `rejected`."""
    migration: str | None = None
    """`active` or `rebinding`."""
    on_address_change: str | None = None
    reconnect_session: str | None = None
    groups: tuple[str, ...] = ()
    """Groups of the key exchange."""
    tls_version: str | None = None


class RecordedProgram(msgspec.Struct, frozen=True):
    """A program of a trial in one role."""

    name: str
    version_asked: str | None = None
    """Beginning of the version that the spec asks for; None where it takes any."""
    version: str | None = None
    """Version that the program told when the run began; None where it was not asked."""


class DisturbedPart(msgspec.Struct, frozen=True):
    """Time that one part of the laboratory added to a trial."""

    cost_ns: int
    """Estimate of it."""
    most_ns: int
    """Upper bound of it."""


class EstimatedDisturbance(msgspec.Struct, frozen=True):
    """Time that the laboratory added to a trial, as its tables tell it."""

    time_ns: int
    """The trial's time, of which the cost is a part."""
    cost_ns: int
    """Estimate for all parts."""
    most_ns: int
    """Upper bound for all parts."""
    parts: dict[str, DisturbedPart] = msgspec.field(default_factory=dict)
    """`link`, `repeats`, and each role whose waits for a processor were watched."""
    by: str | None = None
    """`account` or `bound`: the critical path, or a bound that no path can exceed."""


class RecordedDisturbance(EstimatedDisturbance, frozen=True, kw_only=True):
    """Time that the laboratory added to a trial, with what is tolerated."""

    bound_ns: int
    """The most that does not make the trial void."""


class RecordedLink(msgspec.Struct, frozen=True):
    """Files of one link between the client and a server."""

    leg: str
    """`client`, up to the front, or `origin`."""
    packet_log: str
    """Name of its packet log below raw/, as all names here."""
    capture_client: str | None = None
    capture_server: str | None = None


class SecondLink(msgspec.Struct, frozen=True):
    """Files of the client's link in the network to which it changes."""

    packet_log: str
    capture_client: str | None = None
    capture_server: str | None = None

    @property
    def log(self) -> str:
        """Name that tables have of its packet log."""
        return f"raw/{self.packet_log}"


class RecordedProxy(msgspec.Struct, frozen=True):
    """The proxy of a trial."""

    place: str | None = None
    origin_protocol: str | None = None
    origin_port: int = 0
    compresses: bool = False
    """True if bodies may be compressed on the way, so that fewer bytes come from the origin."""


class ProbeTarget(msgspec.Struct, frozen=True):
    """The foreign server that a probe asked."""

    server: str = ""
    """Sentence on what is not known of it."""


class Flow(msgspec.Struct, frozen=True):
    """One of several flows at a link."""

    label: str
    protocol: str
    server_address: str
    server_port: int
    arm: str | None
    """Arm of a flow that loads as an arm does; None of background."""
    background: str | None
    """Kind of background; None of a download that is compared."""
    started_ns: int | None
    """Instant of its start; None of a flow that never began."""
    ended: str = "running"
    """State in which it was when the competition was over."""
    tcp_congestion_control_asked: str | None = None
    tcp_congestion_control: str | None = None
    """Congestion control of its server's socket."""


class Competition(msgspec.Struct, frozen=True):
    """Several flows at one link."""

    began_ns: int
    ended_ns: int
    flows: Annotated[tuple[Flow, ...], msgspec.Meta(min_length=1)]
    """The measured flow is the first."""
    lasts_ns: int | None = None
    """Time after which all flows are ended; None where the measured one ends it."""
    lost_in_hubs: int = 0
    """Packets that the laboratory lost outside of the link."""


class AddressChange(msgspec.Struct, frozen=True):
    """A change of the client's address."""

    changed_ns: int | None
    """Instant at which the old address was gone; None if the transfer was over before."""
    reached_ns: int | None
    """Instant at which the client said that it had so many bytes; None where the address changes at a time."""
    reached_bytes: int | None = None
    old_address: str | None = None
    new_address: str | None = None
    trouble: str | None = None
    """Reason for which the laboratory could not change it."""


class KeptBody(msgspec.Struct, frozen=True):
    """A body that a client or a server kept as a file."""

    body_bytes: int
    sha256: str | None = None


class Artefact(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a trial."""

    path: str
    """Path within the trial's folder."""
    format: str | None = None
    kind: str | None = None
    """`data`, `log` or `meta`."""
    bytes: int


class TrialRecord(msgspec.Struct, frozen=True):
    """One attempt at a trial."""

    trial_id: str = ""
    attempt: int = 0
    """Number of the attempt, from 1."""
    row: RecordedRow | None = None
    started_utc: str | None = None
    started_monotonic_ns: int | None = None
    boot_id: str | None = None
    """Boot id of the kernel."""
    clock: dict[str, int] = msgspec.field(default_factory=dict)
    """CLOCK_REALTIME − CLOCK_MONOTONIC at the trial's start and end."""
    expected: Expected = Expected()
    protocol: str | None = None
    """`h1`, `h2` or `h3`."""
    sender_program: str | None = None
    """Name of the program that sends the bodies on the client's leg."""
    tcp_congestion_control_asked: str | None = None
    tcp_congestion_controls_asked: dict[str, str] = msgspec.field(default_factory=dict)
    """Role → congestion control that was asked for."""
    asked: Asked = Asked()
    programs: dict[str, RecordedProgram] = msgspec.field(default_factory=dict)
    """Role → its program; none in trials of early versions."""
    ip_version: int | None = None
    server_address: str | None = None
    client_address: str | None = None
    server_port: int | None = None
    tolerated: Number = 1.0
    """Share of the trial's time that the laboratory may add."""
    links: tuple[RecordedLink, ...] = ()
    """Links from the client to the server, in their order."""
    second_link: SecondLink | None = None
    proxy: RecordedProxy | None = None
    probe: ProbeTarget | None = None
    failure: str | None = None
    """Reason for which the transfer did not come to its end."""
    void: str | None = None
    """Reason for which the laboratory could not carry the trial out."""
    logs_spoiled: str | None = None
    """Harm that an endpoint did to its logs."""
    client_exit_code: int | None = None
    client_reports: bool = False
    """True if the client's program writes an account."""
    address_change: AddressChange | None = None
    host: Host = Host()
    time_ns: dict[str, int] = msgspec.field(default_factory=dict)
    """Step of the trial → how long it took, in their order."""
    link: LinkAccount = LinkAccount()
    client: ClientAccount | None = None
    """The client's account; None where it left none that can be used."""
    own_client: bool = False
    """True if the client is a user's own program."""
    client_body: KeptBody | None = None
    """The body that a user's own client kept."""
    received: dict[str, KeptBody] = msgspec.field(default_factory=dict)
    """Uploaded objects that the server kept, by name."""
    competition: Competition | None = None
    content: str | None = None
    """Content of the bodies: `random` cannot be compressed."""
    proof: Proof = Proof()
    own_failure: str | None = None
    """Failing of its endpoints in a trial that the laboratory carried to its end."""
    disturbance: RecordedDisturbance | None = None
    status: str | None = None
    """`verified`, `failed`, `unproven` or `void`."""
    reason: str | None = None
    artefacts: tuple[Artefact, ...] = ()
    """Register of the files that belong to the trial."""
    logs_left_out: str | None = None
    """Rule (`--keep-raw`) by which raw files were not kept."""
    keys_left_out: tuple[str, ...] | bool = ()
    """Files that lost their keys; true in bundles of early versions."""

    @property
    def requests(self) -> tuple[ClientRequest, ...]:
        """Requests by the client's account; none where it left none."""
        return self.client.requests if self.client else ()

    @property
    def first_request(self) -> ClientRequest:
        """The first of them; one of which nothing is known where there is none."""
        return self.client.first if self.client else ClientRequest()

    @property
    def client_close_ns(self) -> int | None:
        """Instant at which the client closed, by its account."""
        return self.client.close_ns if self.client else None

    @property
    def logs_of_client_links(self) -> list[str]:
        """Logs of the links between the client and its front, from the client on, as tables name them; none where the
        trial names no link."""
        return [f"raw/{link.packet_log}" for link in self.links_of("client")]

    def links_of(self, leg: Literal["client", "origin"]) -> tuple[RecordedLink, ...]:
        """The links of one leg, the client's end first."""
        return tuple(link for link in self.links if link.leg == leg)
