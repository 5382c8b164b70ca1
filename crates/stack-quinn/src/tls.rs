// SPDX-License-Identifier: Apache-2.0
//! TLS 1.3 of both ends: groups, trust, early data, key log.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::crypto::{
    verify_tls12_signature, verify_tls13_signature, CryptoProvider, SupportedKxGroup,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, KeyLog, NoKeyLog, RootCertStore, SignatureScheme};
use stack_common::failure::Failure;
use stack_common::job::Group;
use stack_common::logs;
use stack_common::report::hex;

use crate::job::{ClientJob, ServerJob};

const ALPN: &[u8] = b"h3";

/// aws-lc with the groups that were asked for, in that order.
pub fn provider(groups: Option<&[Group]>) -> CryptoProvider {
    let mut provider = aws_lc_rs::default_provider();
    if let Some(groups) = groups {
        provider.kx_groups = groups.iter().map(|group| exchange(*group)).collect();
    }
    provider
}

fn exchange(group: Group) -> &'static dyn SupportedKxGroup {
    match group {
        Group::X25519 => kx_group::X25519,
        Group::Secp256r1 => kx_group::SECP256R1,
        Group::Secp384r1 => kx_group::SECP384R1,
        Group::X25519MlKem768 => kx_group::X25519MLKEM768,
    }
}

/// Trusts only the job's CA; no resumption, because nothing outlives the process.
pub fn client(job: &ClientJob) -> Result<QuicClientConfig, Failure> {
    let provider = Arc::new(provider(job.knobs.groups.as_deref()));
    let versions = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(told)?;
    let mut config = if job.transfer.verify {
        versions
            .with_root_certificates(authorities(&job.transfer.ca)?)
            .with_no_client_auth()
    } else {
        let verifier = Arc::new(AnyCertificate { provider });
        versions
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    config.key_log = key_log(job.transfer.keylog.as_deref())?;
    QuicClientConfig::try_from(config).map_err(told)
}

/// A server for this process alone, which logs no keys, and a client that takes its certificate.
pub fn with_itself(job: &ServerJob) -> Result<(QuicClientConfig, QuicServerConfig), Failure> {
    let provider = Arc::new(provider(job.knobs.groups.as_deref()));
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(told)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
        .with_no_client_auth();
    client.alpn_protocols = vec![ALPN.to_vec()];
    let client = QuicClientConfig::try_from(client).map_err(told)?;
    let server = QuicServerConfig::try_from(serving(job)?).map_err(told)?;
    Ok((client, server))
}

/// TLS settings of every server of a job: certificate, groups and protocol.
fn serving(job: &ServerJob) -> Result<rustls::ServerConfig, Failure> {
    let chain = certificates(&job.service.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&job.service.key)
        .map_err(|error| Failure::unreadable(&job.service.key, error))?;
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(provider(
        job.knobs.groups.as_deref(),
    )))
    .with_protocol_versions(&[&rustls::version::TLS13])
    .map_err(told)?
    .with_no_client_auth()
    .with_single_cert(chain, key)
    .map_err(told)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(config)
}

/// Sessions live in the server's memory: rustls takes early data only on those.
pub fn server(job: &ServerJob) -> Result<QuicServerConfig, Failure> {
    let mut config = serving(job)?;
    // RFC 9001 section 4.6.1 knows no other value than "all" for a server that takes early data.
    config.max_early_data_size = if job.service.early_data { u32::MAX } else { 0 };
    config.key_log = key_log(job.service.keylog.as_deref())?;
    QuicServerConfig::try_from(config).map_err(told)
}

/// A failure of TLS.
pub fn told(error: impl Display) -> Failure {
    Failure::Run(format!("TLS: {error}"))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let chain = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| Failure::unreadable(path, error))?;
    if chain.is_empty() {
        return Err(Failure::unreadable(path, "no certificate in it"));
    }
    Ok(chain)
}

fn authorities(path: &Path) -> Result<RootCertStore, Failure> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(certificate)
            .map_err(|error| Failure::unreadable(path, error))?;
    }
    Ok(store)
}

fn key_log(path: Option<&Path>) -> Result<Arc<dyn KeyLog>, Failure> {
    Ok(match logs::key_log(path)? {
        Some(file) => Arc::new(KeyLogFile(Mutex::new(file))),
        None => Arc::new(NoKeyLog),
    })
}

/// NSS key log format. rustls' own takes its path from the environment only.
#[derive(Debug)]
struct KeyLogFile(Mutex<File>);

impl KeyLog for KeyLogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        // A transfer is not worth losing for its key log; what is missing is seen when it is read.
        let _ = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(line.as_bytes());
    }
}

/// Skips chain and name, not the proof that the server holds the key of the certificate that it showed.
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for AnyCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AnyCertificate")
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::NamedGroup;

    #[test]
    fn groups_are_offered_as_asked_and_in_that_order() {
        let provider = provider(Some(&[Group::Secp384r1, Group::X25519MlKem768]));
        let names: Vec<NamedGroup> = provider
            .kx_groups
            .iter()
            .map(|group| group.name())
            .collect();
        assert_eq!(names, [NamedGroup::secp384r1, NamedGroup::X25519MLKEM768]);
    }

    #[test]
    fn a_file_that_is_no_certificate_is_named() {
        let error = authorities(Path::new("/dev/null")).expect_err("no certificate");
        assert!(
            error.to_string().contains("/dev/null: no certificate"),
            "{error}"
        );
    }
}
