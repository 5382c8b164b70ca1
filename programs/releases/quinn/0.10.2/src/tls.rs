// SPDX-License-Identifier: Apache-2.0
//! TLS 1.3 of both ends by rustls 0.21: groups, trust, early data, key log.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::client::{Resumption, ServerCertVerified, ServerCertVerifier};
use rustls::kx_group::{SECP256R1, SECP384R1, X25519};
use rustls::version::TLS13;
use rustls::{
    Certificate, ClientConfig, KeyLog, NoKeyLog, PrivateKey, RootCertStore, ServerConfig,
    ServerName, SupportedKxGroup,
};
use rustls_pemfile::Item;
use stack_common::failure::Failure;
use stack_common::job::Group;
use stack_common::logs;
use stack_common::report::hex;

use crate::job::{ClientJob, ServerJob};

const ALPN: &[u8] = b"h3";

/// Groups in the order in which they were asked for, or rustls' own.
fn exchanges(groups: Option<&[Group]>) -> Result<Vec<&'static SupportedKxGroup>, Failure> {
    let exchange = |group: &Group| match group {
        Group::X25519 => Ok(&X25519),
        Group::Secp256r1 => Ok(&SECP256R1),
        Group::Secp384r1 => Ok(&SECP384R1),
        Group::X25519MlKem768 => Err(Failure::Usage(
            "this release of quinn has no group x25519mlkem768".into(),
        )),
    };
    match groups {
        None => Ok(rustls::ALL_KX_GROUPS.to_vec()),
        Some(groups) => groups.iter().map(exchange).collect(),
    }
}

/// Trusts only the job's CA; no resumption, because nothing outlives the process.
pub fn client(job: &ClientJob) -> Result<ClientConfig, Failure> {
    let trusting = ClientConfig::builder()
        .with_safe_default_cipher_suites()
        .with_kx_groups(&exchanges(job.knobs.groups.as_deref())?)
        .with_protocol_versions(&[&TLS13])
        .map_err(told)?;
    let mut config = if job.transfer.verify {
        trusting
            .with_root_certificates(authorities(&job.transfer.ca)?)
            .with_no_client_auth()
    } else {
        trusting
            .with_custom_certificate_verifier(Arc::new(AnyCertificate))
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    config.key_log = key_log(job.transfer.keylog.as_deref())?;
    Ok(config)
}

/// Sessions live in the server's memory: rustls takes early data only on those.
pub fn server(job: &ServerJob) -> Result<ServerConfig, Failure> {
    let mut config = ServerConfig::builder()
        .with_safe_default_cipher_suites()
        .with_kx_groups(&exchanges(job.knobs.groups.as_deref())?)
        .with_protocol_versions(&[&TLS13])
        .map_err(told)?
        .with_no_client_auth()
        .with_single_cert(
            certificates(&job.service.certificate)?,
            private_key(&job.service.key)?,
        )
        .map_err(told)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    // RFC 9001 section 4.6.1 knows no other value than "all" for a server that takes early data.
    config.max_early_data_size = if job.service.early_data { u32::MAX } else { 0 };
    config.key_log = key_log(job.service.keylog.as_deref())?;
    Ok(config)
}

fn told(error: impl Display) -> Failure {
    Failure::Run(format!("TLS: {error}"))
}

fn items(path: &Path) -> Result<Vec<Item>, Failure> {
    let file = File::open(path).map_err(|error| Failure::unreadable(path, error))?;
    rustls_pemfile::read_all(&mut BufReader::new(file))
        .map_err(|error| Failure::unreadable(path, error))
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, Failure> {
    let chain: Vec<Certificate> = items(path)?
        .into_iter()
        .filter_map(|item| match item {
            Item::X509Certificate(bytes) => Some(Certificate(bytes)),
            _ => None,
        })
        .collect();
    if chain.is_empty() {
        return Err(Failure::unreadable(path, "no certificate in it"));
    }
    Ok(chain)
}

fn private_key(path: &Path) -> Result<PrivateKey, Failure> {
    items(path)?
        .into_iter()
        .find_map(|item| match item {
            Item::PKCS8Key(bytes) | Item::ECKey(bytes) | Item::RSAKey(bytes) => {
                Some(PrivateKey(bytes))
            }
            _ => None,
        })
        .ok_or_else(|| Failure::unreadable(path, "no private key in it"))
}

fn authorities(path: &Path) -> Result<RootCertStore, Failure> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(path)? {
        store
            .add(&certificate)
            .map_err(|error| Failure::unreadable(path, error))?;
    }
    Ok(store)
}

fn key_log(path: Option<&Path>) -> Result<Arc<dyn KeyLog>, Failure> {
    Ok(match logs::key_log(path)? {
        Some(file) => Arc::new(KeyLogFile(Mutex::new(file))),
        None => Arc::new(NoKeyLog {}),
    })
}

/// NSS key log format. rustls' own takes its path from the environment only.
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
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &Certificate,
        _intermediates: &[Certificate],
        _server_name: &ServerName,
        _scts: &mut dyn Iterator<Item = &[u8]>,
        _ocsp_response: &[u8],
        _now: SystemTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }
}
