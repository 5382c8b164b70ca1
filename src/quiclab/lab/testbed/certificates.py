# SPDX-License-Identifier: Apache-2.0
"""One certificate authority per study, and the servers' certificates under it, in files of mode 0600."""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from quiclab.model.errors import HostError
from quiclab.model.study import Certificate

HOST = "server.test"
"""The server's name in every study (RFC 6761 keeps .test free)."""

_LONG = 200
_LONGEST_NAME = 64
"""Most characters of a common name (RFC 5280, ub-common-name); the whole name is among the alternative ones."""

_PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey
_PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class Certificates:
    """Paths of PEM files."""

    ca: Path
    certificate: Path
    """The server's certificate, the intermediates, and the CA's."""
    key: Path


@dataclass(frozen=True)
class _Signed:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: _PrivateKey


def make_certificates(
    folder: Path, addresses: Collection[str], kinds: Collection[Certificate], host: str = HOST
) -> dict[Certificate, Certificates]:
    """Make a CA in `folder` and a chain of each kind under it for `host`; what is there already is kept.

    Raises HostError where the CA that is there cannot be read.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ca = _authority(folder)
    return {kind: _server(folder, ca, addresses, kind, host) for kind in kinds}


def lend(made: Certificates, folder: Path) -> Certificates:
    """Copy the files for servers and clients to `folder`, which does not get the CA's key."""
    folder.mkdir(mode=0o700, exist_ok=True)
    lent = {name: folder / file.name for name, file in vars(made).items()}
    for name, file in vars(made).items():
        _write(lent[name], file.read_bytes())
    return Certificates(**lent)


def _authority(folder: Path) -> _Signed:
    certificate, key = folder / "ca.crt", folder / "ca.key"
    if certificate.exists() and key.exists():
        try:
            loaded = serialization.load_pem_private_key(key.read_bytes(), None)
            signed = x509.load_pem_x509_certificate(certificate.read_bytes())
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise HostError(
                f"the study's CA cannot be read: {key} or {certificate.name}: {why}",
                "make it readable again, or remove the whole folder: the next run makes new certificates",
            ) from error
        assert isinstance(loaded, _PrivateKey)
        return _Signed(signed, loaded)
    made = _issue("quiclab study CA", _new_key("ecdsa-p256"), None)
    _write(key, _private_pem(made.key))
    _write(certificate, made.certificate.public_bytes(_PEM))
    return made


def _server(folder: Path, ca: _Signed, addresses: Collection[str], kind: Certificate, host: str) -> Certificates:
    # A page's host may have any name: that of one of our files, or one that is too long for a file.
    told = host if len(host) < _LONG else hashlib.sha256(host.encode()).hexdigest()
    stem = f"{'server' if host == HOST else f'host-{told}'}-{kind.key}-{kind.intermediates}"
    made = Certificates(folder / "ca.crt", folder / f"{stem}.crt", folder / f"{stem}.key")
    if made.certificate.exists() and made.key.exists():
        return made
    chain, issuer = [ca.certificate], ca
    for number in range(kind.intermediates):
        issuer = _issue(f"quiclab intermediate CA {number + 1}", _new_key(kind.key), issuer)
        chain.insert(0, issuer.certificate)
    server = _issue(host, _new_key(kind.key), issuer, addresses)
    _write(made.key, _private_pem(server.key))
    _write(made.certificate, b"".join(each.public_bytes(_PEM) for each in (server.certificate, *chain)))
    return made


def _new_key(kind: str) -> _PrivateKey:
    if kind == "ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    if kind.startswith("rsa-"):
        return rsa.generate_private_key(public_exponent=65537, key_size=int(kind.removeprefix("rsa-")))
    return ec.generate_private_key(ec.SECP256R1())


def _issue(common_name: str, key: _PrivateKey, issuer: _Signed | None, addresses: Collection[str] = ()) -> _Signed:
    """Issue a certificate for `key`: a server's with `addresses`, else a CA's; self-signed without an issuer."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name[:_LONGEST_NAME])])
    signer = issuer.key if issuer else key
    now = datetime.datetime.now(datetime.UTC)
    is_ca = not addresses
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer.certificate.subject if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=is_ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if addresses:
        names = [x509.DNSName(common_name), *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses)]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
    algorithm = None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return _Signed(builder.sign(signer, algorithm), key)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _private_pem(key: _PrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
