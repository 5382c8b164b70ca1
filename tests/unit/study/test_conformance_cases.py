# SPDX-License-Identifier: Apache-2.0
"""What the conformance test tries."""

from __future__ import annotations

from quiclab.lab.endpoints import ENDPOINTS, find, objections
from quiclab.study.conformance_cases import OBJECTS, cases, study_of


def test_every_protocol_that_both_speak_is_tried_with_every_object() -> None:
    """And nothing that the programs object to."""
    found = list(cases([find("client", "curl-cffi")], [find("server", "caddy"), find("proxy", "nginx")]))
    plain = {(case.arm.name, case.what) for case in found if case.what in OBJECTS}
    assert {("curl-cffi.server.caddy.h2", "1KB"), ("curl-cffi.server.caddy.h3", "1MB")} <= plain
    assert ("curl-cffi.proxy.nginx.h2", "1KB") in plain
    assert not [case for case in found if objections(case.arm)]


def test_what_only_some_can_is_tried_where_both_claim_it() -> None:
    """quic-go's client resumes sessions and migrates, quinn's only migrates, and curl does neither."""
    more = {
        client: {case.what for case in cases([find("client", client)], [find("server", "caddy")])} - OBJECTS.keys()
        for client in ("quic-go", "quinn", "curl-cffi")
    }
    assert more == {"quic-go": {"0-RTT", "migration"}, "quinn": {"migration"}, "curl-cffi": set()}


def test_no_program_objects_to_any_case() -> None:
    """One case that is not possible would end the whole run: every client is tried with every server and proxy."""
    known = [each for each in ENDPOINTS if each.name != "command"]
    clients, fronts = ([each for each in known if (each.role == "client") is is_client] for is_client in (True, False))
    found = list(cases(clients, fronts))
    workloads = {workload.name: workload for workload in study_of(found).workloads}
    assert found
    assert not [case for case in found if objections(case.arm, [workloads[case.workload]])]


def test_cases_are_trials_of_one_study() -> None:
    """Each has a row of its own, whose arm, workload and path the study has."""
    found = list(cases([find("client", "aioquic")], [find("server", "aioquic"), find("server", "caddy")]))
    study = study_of(found)
    assert len({case.row.trial_id for case in found}) == len(found)
    assert {case.row.arm_name for case in found} == {arm.name for arm in study.arms}
    assert {case.row.workload for case in found} <= {workload.name for workload in study.workloads}
    assert {case.row.path for case in found} == {path.name for path in study.paths}
