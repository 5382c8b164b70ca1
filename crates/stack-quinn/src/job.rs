// SPDX-License-Identifier: Apache-2.0
//! The job files. Null and a missing key mean the library's own; a value that quinn does not know is an error.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::Deserialize;

use crate::error::Error;
use crate::knobs::Knobs;

/// One download over one new connection.
#[derive(Debug, Deserialize)]
pub struct ClientJob {
    pub url: String,
    /// What is fetched beside it on the same connection.
    pub other_urls: Option<Vec<String>>,
    /// How many of them may be under way at once.
    pub concurrency: Option<usize>,
    pub address: IpAddr,
    pub port: u16,
    /// Name in SNI and in the certificate.
    pub host: String,
    #[expect(
        dead_code,
        reason = "to be read is its use: any other protocol is refused"
    )]
    protocol: Protocol,
    pub ca: PathBuf,
    #[serde(default = "yes")]
    pub verify: bool,
    pub qlog_dir: Option<PathBuf>,
    pub keylog: Option<PathBuf>,
    pub output: PathBuf,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "to be read is its use: any other session is refused"
    )]
    session: Session,
    #[serde(default)]
    pub priming: bool,
    pub migration: Option<Migration>,
    /// Bytes of body after which the address changes.
    pub migrate_at_bytes: Option<u64>,
    #[serde(flatten)]
    pub knobs: Knobs,
}

/// Serves files until SIGTERM.
#[derive(Debug, Deserialize)]
pub struct ServerJob {
    pub listen: SocketAddr,
    pub protocols: Vec<Protocol>,
    pub root: PathBuf,
    /// Certificate chain in PEM.
    pub certificate: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
    pub qlog_dir: Option<PathBuf>,
    pub keylog: Option<PathBuf>,
    #[serde(default)]
    pub early_data: bool,
    #[serde(default = "octets")]
    pub content_type: String,
    pub trickle: Option<Trickle>,
    /// A fault on purpose: the congestion controller believes this round trip (`false_sample.rs`).
    pub false_rtt_sample_ns: Option<u64>,
    #[serde(flatten)]
    pub knobs: Knobs,
}

/// A fault on purpose: bodies are handed over piece by piece, with pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Trickle {
    pub piece_bytes: NonZeroUsize,
    pub pause_ns: u64,
}

/// quinn speaks only QUIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Protocol {
    #[serde(rename = "h3")]
    H3,
}

/// State of the TLS session: always fresh, because rustls keeps client sessions in memory only and a new process has
/// none to resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    #[default]
    Fresh,
}

/// Kinds of address change, by whether quinn knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Migration {
    /// quinn is told: it takes a new connection ID and sends a PING from the new port at once.
    Active,
    /// quinn is not told: the same connection ID goes on from another port, as behind a NAT that forgot.
    Rebinding,
}

fn octets() -> String {
    "application/octet-stream".into()
}

fn yes() -> bool {
    true
}

/// A job that passed every check that needs no network.
pub trait Job: DeserializeOwned {
    /// What is wrong with its values, if anything.
    fn check(&self) -> Result<(), Error>;
}

impl Job for ClientJob {
    fn check(&self) -> Result<(), Error> {
        if self.priming {
            return Err(Error::Asked(
                "quinn cannot keep a session: rustls has no file format for one".into(),
            ));
        }
        if self.other_urls.is_some()
            && (self.concurrency.is_none_or(|at_once| at_once == 0) || self.migration.is_some())
        {
            return Err(Error::Asked(
                "several objects need a concurrency, and exclude a migration".into(),
            ));
        }
        if self.migration.is_some() != self.migrate_at_bytes.is_some() {
            return Err(Error::Asked(
                "migration and migrate_at_bytes belong together".into(),
            ));
        }
        self.knobs.check()
    }
}

impl Job for ServerJob {
    fn check(&self) -> Result<(), Error> {
        if self.protocols.is_empty() {
            return Err(Error::Asked("protocols is empty: quinn speaks h3".into()));
        }
        self.knobs.check()
    }
}

/// The job in that file, checked.
pub fn read<J: Job>(path: &str) -> Result<J, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::unreadable(path, &error))?;
    let job: J =
        serde_json::from_str(&text).map_err(|error| Error::Asked(format!("{path}: {error}")))?;
    job.check()?;
    Ok(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::{CongestionControl, Group, Scheduler};

    fn client(extra: &str) -> Result<ClientJob, String> {
        let text = format!(
            r#"{{"url": "https://a.test/x", "address": "::1", "port": 443, "host": "a.test", "protocol": "h3",
                "ca": "ca.pem", "output": "client.json", "session_file": null, "pacing": null {extra}}}"#
        );
        let job: ClientJob = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        job.check().map_err(|error| error.to_string())?;
        Ok(job)
    }

    #[test]
    fn what_is_left_out_is_the_librarys_own() {
        let job = client("").expect("a plain job");
        assert!(job.verify && job.migration.is_none() && job.knobs.congestion_control.is_none());
    }

    #[test]
    fn what_quinn_cannot_do_is_named() {
        for (extra, word) in [
            (r#", "congestion_control": "vegas""#, "vegas"),
            (r#", "session": "resumed""#, "resumed"),
            (r#", "priming": true"#, "session"),
            (r#", "migration": "active""#, "migrate_at_bytes"),
            (r#", "groups": ["x448"]"#, "x448"),
            (r#", "tls_version": "1.2""#, "1.2"),
            (r#", "hystart": true"#, "HyStart"),
            (r#", "packet_threshold": -1"#, "-1"),
            (r#", "ack_frequency": 10"#, "peer"),
        ] {
            let error = client(extra).expect_err(extra);
            assert!(error.contains(word), "{extra}: {error}");
        }
    }

    #[test]
    fn a_server_of_http_2_is_refused() {
        let text = r#"{"listen": "[::1]:443", "protocols": ["h2", "h3"], "root": "/", "certificate": "c", "key": "k"}"#;
        let error = serde_json::from_str::<ServerJob>(text)
            .expect_err("h2")
            .to_string();
        assert!(error.contains("h2"), "{error}");
    }

    /// The golden files of all readers and writers of this format (`tests/unit/lab/endpoints/test_job.py`).
    #[test]
    fn golden_jobs_are_read() {
        let job: ClientJob =
            serde_json::from_str(include_str!("../../../tests/golden/job-client.json"))
                .expect("a job");
        job.check().expect("a job that can be done");
        assert_eq!(job.url, "https://server.test/1MB");
        assert_eq!(job.other_urls.as_ref().map(Vec::len), Some(2));
        assert_eq!((job.concurrency, job.verify), (Some(2), true));
        assert_eq!(job.knobs.congestion_control, Some(CongestionControl::Reno));
        assert_eq!(job.knobs.connection_window_bytes, Some(1_500_000));
        assert_eq!(job.knobs.stream_window_bytes, Some(1_000_000));
        assert_eq!(
            job.knobs.groups.as_deref(),
            Some([Group::X25519, Group::Secp256r1].as_slice())
        );
        assert_eq!(job.knobs.max_payload_bytes, Some(1350));
        let job: ServerJob =
            serde_json::from_str(include_str!("../../../tests/golden/job-server.json"))
                .expect("a job");
        job.check().expect("a job that can be done");
        assert_eq!(job.listen.to_string(), "10.77.0.2:443");
        assert_eq!(job.protocols, [Protocol::H3]);
        assert_eq!(job.knobs.scheduler, Some(Scheduler::RoundRobin));
        assert_eq!(job.knobs.max_streams.map(u32::from), Some(100));
    }
}
