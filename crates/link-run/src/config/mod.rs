// SPDX-License-Identifier: Apache-2.0
//! The configuration file: JSON as docs/reference/link-config.md describes it.

mod address;
mod aqm;
mod course;
mod direction;
mod elements;
mod link;
mod live;
mod police;
mod random_rate;
mod service;
mod slot;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
pub use address::kind_name;
pub use direction::Direction;
pub use link::{Files, Link, NatConfig};
pub use live::{LiveChange, Replaced};

/// The whole configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Version of this format: 1.
    pub version: u32,
    /// Seed of the trial, a decimal u64 as text, since JSON numbers lose bits above 2⁵³ in many readers.
    pub seed: String,
    /// Name of the link; enters the keys of all random streams.
    pub link: String,
    /// Means by which packets are read and written.
    pub backend: Backend,
    /// The two ends.
    pub ends: Ends,
    /// Client to server.
    pub up: Direction,
    /// Server to client.
    pub down: Direction,
    /// Translation of the client's ports.
    #[serde(default)]
    pub nat: Option<NatConfig>,
    /// Logs that are written.
    #[serde(default)]
    pub log: Log,
    /// Bounds beyond which a run does not count.
    #[serde(default)]
    pub void: Void,
    /// Way to wait.
    #[serde(default)]
    pub timer: Timer,
    /// True if the workload begins when standard input has a line, and not with the first packet.
    #[serde(default)]
    pub begins_when_told: bool,
    /// Further links.
    #[serde(default)]
    pub more_links: Vec<Link>,
}

/// Means by which packets are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// A TUN device in each end's namespace.
    Tun,
    /// A packet socket on the near side of a veth pair to each end.
    Veth,
}

/// The two ends of the link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    /// End at which `up` starts.
    pub client: End,
    /// End at which `down` starts.
    pub server: End,
}

impl Ends {
    fn each_path(&mut self, mut change: impl FnMut(&mut PathBuf)) {
        for end in [&mut self.client, &mut self.server] {
            change(&mut end.netns);
            end.near_netns.iter_mut().for_each(&mut change);
        }
    }
}

/// One end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Path of the network namespace of this end.
    pub netns: PathBuf,
    /// Name of its device.
    pub device: String,
    /// Path of the network namespace that has the other device of the pair (veth).
    pub near_netns: Option<PathBuf>,
    /// Name of the other device of the pair (veth).
    pub near_device: Option<String>,
    /// Largest IP packet in bytes.
    pub mtu: u16,
    /// Ethernet address to send from (veth).
    pub mac: Option<String>,
    /// Ethernet address of this end's own device, to send to (veth).
    pub peer_mac: Option<String>,
}

/// Logs that are written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The packet log.
    pub packet_log: Option<PathBuf>,
    /// The capture of the client's end.
    pub capture_client: Option<PathBuf>,
    /// The capture of the server's end.
    pub capture_server: Option<PathBuf>,
    /// Bytes of each packet that the captures keep; `None`: all.
    pub snaplen_bytes: Option<usize>,
    /// Most memory between the forwarder and the disk.
    pub buffer_bytes: usize,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            packet_log: None,
            capture_client: None,
            capture_server: None,
            snaplen_bytes: None,
            buffer_bytes: 256 << 20,
        }
    }
}

/// Bounds beyond which a run does not count: p99 of the lateness above the larger of the two.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Void {
    /// Bound in nanoseconds.
    pub lateness_p99_ns: u64,
    /// Bound as a share of the one-way delay (of the direction with the smaller one).
    pub one_way_delay_share: f64,
}

impl Default for Void {
    fn default() -> Self {
        Self {
            lateness_p99_ns: 100_000,
            one_way_delay_share: 0.02,
        }
    }
}

/// Way to wait.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timer {
    /// Time before a packet is due at which sleeping stops; `None`: as long as the cores can spare.
    pub spin_ns: Option<u64>,
    /// True if to ask for real-time scheduling.
    pub real_time: bool,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            spin_ns: None,
            real_time: true,
        }
    }
}

impl Config {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// [`Error::Config`] with one sentence on what is wrong and where.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::config(format!("{}: {error}", path.display())))?;
        Self::parse(&text)
    }

    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let config: Self =
            serde_json::from_str(text).map_err(|error| Error::config(error.to_string()))?;
        if config.version != 1 {
            return Err(Error::config(format!(
                "version {} is not supported, only 1",
                config.version
            )));
        }
        config.seed()?;
        config.check_links()?;
        Ok(config)
    }

    /// Shows `change` every path that the configuration names.
    pub fn each_path(&mut self, mut change: impl FnMut(&mut PathBuf)) {
        let of_first = [
            &mut self.log.packet_log,
            &mut self.log.capture_client,
            &mut self.log.capture_server,
        ];
        of_first.into_iter().flatten().for_each(&mut change);
        self.ends.each_path(&mut change);
        for link in &mut self.more_links {
            let files = &mut link.log;
            let of_link = [
                &mut files.packet_log,
                &mut files.capture_client,
                &mut files.capture_server,
            ];
            of_link.into_iter().flatten().for_each(&mut change);
            link.ends.each_path(&mut change);
        }
    }

    /// The seed as a number.
    ///
    /// # Errors
    /// [`Error::Config`] if it is none.
    pub fn seed(&self) -> Result<u64, Error> {
        self.seed.parse().map_err(|_| {
            Error::config(format!(
                "seed: '{}' is not a decimal number below 2^64",
                self.seed
            ))
        })
    }
}
