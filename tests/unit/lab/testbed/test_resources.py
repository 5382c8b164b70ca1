# SPDX-License-Identifier: Apache-2.0
"""What the testbed makes without needing a namespace: certificates, the sysctl table, the clock."""

from __future__ import annotations

import itertools
import stat
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from quiclab.lab.testbed import clock
from quiclab.lab.testbed.certificates import HOST, make_certificates
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.errors import HostError
from quiclab.model.study import Certificate, Tcp

ADDRESSES = ("10.77.0.2", "fd77::2")


def test_a_damaged_authority_is_told(tmp_path: Path) -> None:
    """The file is named, with what to do; nothing is made anew behind the user's back."""
    make_certificates(tmp_path / "tls", ADDRESSES, {Certificate()})
    (tmp_path / "tls" / "ca.key").write_text("-----BEGIN PRIVATE KEY-----\nhalf")
    with pytest.raises(HostError, match=r"ca\.key.*damaged"):
        make_certificates(tmp_path / "tls", ADDRESSES, {Certificate(key="rsa-2048")})


def test_certificates_are_signed_private_and_kept(tmp_path: Path) -> None:
    """The server's certificate verifies under the CA, the key is for its owner only, a second call changes nothing."""
    made = make_certificates(tmp_path / "tls", ADDRESSES, {Certificate()})[Certificate()]
    server, ca = (x509.load_pem_x509_certificate(path.read_bytes()) for path in (made.certificate, made.ca))
    server.verify_directly_issued_by(ca)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [HOST]
    assert isinstance(server.public_key(), ec.EllipticCurvePublicKey)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in (tmp_path / "tls").iterdir())
    before = made.certificate.read_bytes()
    assert make_certificates(tmp_path / "tls", ADDRESSES, {Certificate()})[Certificate()] == made
    assert made.certificate.read_bytes() == before


@pytest.mark.parametrize("kind", [Certificate("rsa-2048", 3), Certificate("ed25519", 1), Certificate("ecdsa-p256", 2)])
def test_a_chain_of_any_length_leads_to_the_one_ca(tmp_path: Path, kind: Certificate) -> None:
    """Each certificate of the file is signed by the next, the last by the CA that a second kind has too."""
    both = make_certificates(tmp_path / "tls", ADDRESSES, {kind, Certificate()})
    made = both[kind]
    assert made.ca.read_bytes() == both[Certificate()].ca.read_bytes()
    chain = x509.load_pem_x509_certificates(made.certificate.read_bytes())
    assert len(chain) == kind.intermediates + 2
    for certificate, issuer in itertools.pairwise(chain):
        certificate.verify_directly_issued_by(issuer)
    assert chain[-1] == x509.load_pem_x509_certificate(made.ca.read_bytes())


def test_every_tcp_field_of_the_spec_reaches_a_sysctl() -> None:
    """Changing any field changes the table: nothing is left to the machine's default."""
    base = sysctls(Tcp("reno"))
    assert base["net.ipv4.tcp_no_metrics_save"] == "1"
    assert sysctls(Tcp("cubic")) != base
    for field, value in (
        ("sack", False),
        ("timestamps", False),
        ("ecn", True),
        ("slow_start_after_idle", True),
        ("dsack", False),
        ("rack", False),
        ("reordering", 10),
    ):
        assert sysctls(Tcp("reno", **{field: value})) != base  # type: ignore[arg-type]


def test_the_clocks_are_read_together() -> None:
    """The offset maps monotonic time to real time within a millisecond."""
    instant = clock.read()
    assert abs(instant.monotonic_ns + instant.realtime_minus_monotonic_ns - time.time_ns()) < 50_000_000
    assert instant.utc.endswith("+00:00")


@pytest.mark.parametrize("host", ["server", "ca", "x" * 63 + (".x" * 90)])
def test_a_pages_host_may_have_any_name(tmp_path: Path, host: str) -> None:
    """It never gets the files of ours, and a long one gets a file at all."""
    kind = Certificate()
    ours = make_certificates(tmp_path / "tls", ADDRESSES, {kind})[kind]
    theirs = make_certificates(tmp_path / "tls", ADDRESSES, {kind}, host)[kind]
    assert not {ours.certificate, ours.key, ours.ca} & {theirs.certificate, theirs.key}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "tls").iterdir()} == {0o600}
