// SPDX-License-Identifier: Apache-2.0
//! The job file: what to fetch or to serve, and the knobs. Null is the library's own choice.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::held_acks::HeldAcks;
use crate::notice::AddressChange;

/// The largest UDP payload: what the length field of UDP leaves.
const MAX_UDP_PAYLOAD: usize = 65527;

/// The largest `max_ack_delay`: below 2^14 milliseconds (RFC 9000 section 18.2).
const MAX_ACK_DELAY_NS: u64 = 16_383_000_000;

/// One download.
#[derive(Debug, Deserialize)]
pub struct ClientJob {
    pub url: String,
    /// What is fetched beside it on the same connection.
    pub other_urls: Option<Vec<String>>,
    /// How many may be under way at once.
    pub concurrency: Option<usize>,
    pub address: IpAddr,
    pub port: u16,
    pub host: String,
    pub protocol: String,
    pub ca: PathBuf,
    pub verify: bool,
    pub qlog_dir: Option<PathBuf>,
    pub keylog: Option<PathBuf>,
    pub output: PathBuf,
    pub session: Session,
    pub session_file: Option<PathBuf>,
    pub priming: bool,
    pub migration: Option<Migration>,
    pub migrate_at_bytes: Option<u64>,
    /// Somebody else changes the address; `migration` says what this client does then.
    pub address_change: Option<AddressChange>,
    pub ack_delay_ns: Option<u64>,
    pub ack_frequency: Option<usize>,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// One server.
#[derive(Debug, Deserialize)]
pub struct ServerJob {
    pub listen: SocketAddr,
    pub protocols: Vec<String>,
    pub root: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub qlog_dir: Option<PathBuf>,
    pub keylog: Option<PathBuf>,
    pub early_data: bool,
    pub max_streams: Option<u64>,
    pub gso: Option<bool>,
    pub scheduler: Option<Scheduler>,
    pub content_type: Option<String>,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// What both ends can set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Knobs {
    pub congestion_control: Option<CongestionControl>,
    pub initial_window: Option<usize>,
    pub pacing: Option<bool>,
    pub hystart: Option<bool>,
    pub connection_window_bytes: Option<u64>,
    pub stream_window_bytes: Option<u64>,
    pub groups: Option<Vec<Group>>,
    pub initial_rtt_ns: Option<u64>,
    pub max_payload_bytes: Option<usize>,
}

/// quiche's `bbr` is another name of its `bbr2` and is therefore not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    Reno,
    Cubic,
    Bbr2,
}

impl CongestionControl {
    /// quiche's word for it, which is ours too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr2 => "bbr2",
        }
    }
}

/// Group of the TLS key exchange, by its name in the TLS registry.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    X25519,
    Secp256r1,
    Secp384r1,
    X25519MlKem768,
}

/// What the client brings of an earlier visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    Fresh,
    Resumed,
    EarlyData,
}

/// How the client's address changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Migration {
    /// The library changes the address, and validates the new path first (RFC 9000 section 9.2).
    Active,
    /// The address changes under the library, as behind a NAT that forgets (RFC 9000 section 9.3.1).
    Rebinding,
}

/// Order in which the server sends the bodies of concurrent streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    Fifo,
    RoundRobin,
}

/// A job that can be checked after it was parsed.
pub trait Job: DeserializeOwned {
    /// What cannot be had, in words.
    fn check(&self) -> Result<(), String>;
}

/// Read and check a job file.
pub fn read<J: Job>(path: &str) -> Result<J, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::cannot(&format!("read {path}"), error))?;
    parse(&text).map_err(|why| Failure::Usage(format!("{path}: {why}")))
}

fn parse<J: Job>(text: &str) -> Result<J, String> {
    let job: J = serde_json::from_str(text).map_err(|error| error.to_string())?;
    job.check()?;
    Ok(job)
}

impl Job for ClientJob {
    fn check(&self) -> Result<(), String> {
        check_unknown(&self.unknown, "client")?;
        self.knobs.check()?;
        if self.ack_frequency == Some(0)
            || self.ack_delay_ns.is_some_and(|ns| ns > MAX_ACK_DELAY_NS)
        {
            return Err("ack_frequency is at least 1, ack_delay less than 16.384 s".to_owned());
        }
        if self.protocol != "h3" {
            return Err(format!("quiche speaks h3 only, not {}", self.protocol));
        }
        if self.session_file.is_none() && (self.priming || self.session != Session::Fresh) {
            return Err("a session needs session_file".to_owned());
        }
        if self.other_urls.is_some()
            && (self.concurrency.is_none_or(|at_once| at_once == 0)
                || self.priming
                || self.migration.is_some()
                || self.session == Session::EarlyData)
        {
            return Err(
                "several objects need a concurrency, and exclude early data and migration"
                    .to_owned(),
            );
        }
        if self.address_change.is_some() && self.migration.is_none() {
            return Err("a client whose address changes needs a migration".to_owned());
        }
        self.paths().map(|_| ())
    }
}

impl ClientJob {
    /// All of them, in the order in which they are asked for.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        let others = self.other_urls.iter().flatten();
        std::iter::once(&self.url).chain(others).map(String::as_str)
    }

    /// Authority and path of each URL.
    pub fn paths(&self) -> Result<Vec<(&str, &str)>, String> {
        self.urls().map(authority_and_path).collect()
    }

    /// The acknowledgements that it is to hold back.
    pub fn held_acks(&self) -> Option<HeldAcks> {
        HeldAcks::new(
            self.ack_frequency,
            self.ack_delay_ns.map(Duration::from_nanos),
        )
    }

    /// Where the server is.
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }
}

fn authority_and_path(url: &str) -> Result<(&str, &str), String> {
    let rest = url
        .strip_prefix("https://")
        .ok_or_else(|| format!("{url} is not an https URL"))?;
    Ok(rest
        .find('/')
        .map_or((rest, "/"), |slash| rest.split_at(slash)))
}

impl Job for ServerJob {
    fn check(&self) -> Result<(), String> {
        check_unknown(&self.unknown, "server")?;
        self.knobs.check()?;
        if self.protocols.iter().any(|protocol| protocol != "h3") || self.protocols.is_empty() {
            return Err(format!(
                "quiche speaks h3 only, not {}",
                self.protocols.join(", ")
            ));
        }
        if self.max_streams == Some(0) {
            return Err("max_streams must be at least 1".to_owned());
        }
        Ok(())
    }
}

impl Knobs {
    fn check(&self) -> Result<(), String> {
        let bbr2 = self.congestion_control == Some(CongestionControl::Bbr2);
        if self.pacing == Some(true) && !bbr2 {
            return Err("quiche paces bbr2 only".to_owned());
        }
        if self.hystart.is_some() && bbr2 {
            return Err("quiche's bbr2 has no hystart".to_owned());
        }
        if self.initial_window == Some(0) {
            return Err("initial_window must be at least 1 packet".to_owned());
        }
        if self.initial_rtt_ns == Some(0) {
            return Err("initial_rtt must be longer than 0".to_owned());
        }
        if self.groups.as_ref().is_some_and(Vec::is_empty) {
            return Err("groups must name at least one".to_owned());
        }
        match self.max_payload_bytes {
            Some(bytes) if !(quiche::MIN_CLIENT_INITIAL_LEN..=MAX_UDP_PAYLOAD).contains(&bytes) => {
                Err(format!(
                    "max_payload must be from {} to {MAX_UDP_PAYLOAD} bytes",
                    quiche::MIN_CLIENT_INITIAL_LEN
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Keys of other programs are there as null; a value asks for what quiche does not have.
fn check_unknown(unknown: &BTreeMap<String, Value>, role: &str) -> Result<(), String> {
    match unknown.iter().find(|(_, value)| !value.is_null()) {
        Some((name, value)) => Err(format!(
            "the quiche {role} has no {name} (asked for: {value})"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
