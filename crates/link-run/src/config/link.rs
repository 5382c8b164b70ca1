// SPDX-License-Identifier: Apache-2.0
//! One link of a path in the configuration file.

use std::path::PathBuf;

use serde::Deserialize;

use super::{Config, Direction, Ends, Void};
use crate::error::Error;
use crate::nat::Forgets;

/// One link, with its ends and what it writes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name of the link; enters the keys of all its random streams.
    pub link: String,
    /// The two ends.
    pub ends: Ends,
    /// Client to server.
    pub up: Direction,
    /// Server to client.
    pub down: Direction,
    /// Translation of the client's ports.
    #[serde(default)]
    pub nat: Option<NatConfig>,
    /// Files that are written about the link.
    #[serde(default)]
    pub log: Files,
    /// Bounds beyond which a run does not count.
    #[serde(default)]
    pub void: Void,
}

/// Translation of the client's ports as it is written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatConfig {
    rebind_ns: Option<u64>,
    timeout_ns: Option<u64>,
}

impl NatConfig {
    /// Times at which it forgets.
    #[must_use]
    pub fn forgets(&self) -> Forgets {
        Forgets {
            at_ns: self.rebind_ns,
            after_ns: self.timeout_ns,
        }
    }
}

/// The files of one link.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Files {
    /// The packet log.
    pub packet_log: Option<PathBuf>,
    /// The capture of the end that is nearer to the client.
    pub capture_client: Option<PathBuf>,
    /// The capture of the end that is nearer to the server.
    pub capture_server: Option<PathBuf>,
}

impl Link {
    /// `place` says where it stands in the file.
    pub(super) fn check(&self, place: &str) -> Result<(), Error> {
        for (name, end) in [("client", &self.ends.client), ("server", &self.ends.server)] {
            if end.mtu < 576 {
                return Err(Error::config(format!(
                    "{place}ends.{name}.mtu: {} is below 576",
                    end.mtu
                )));
            }
        }
        Ok(())
    }
}

impl Config {
    /// All links in order from client to server.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        let first = Link {
            link: self.link.clone(),
            ends: self.ends.clone(),
            up: self.up.clone(),
            down: self.down.clone(),
            nat: self.nat,
            log: Files {
                packet_log: self.log.packet_log.clone(),
                capture_client: self.log.capture_client.clone(),
                capture_server: self.log.capture_server.clone(),
            },
            void: self.void,
        };
        std::iter::once(first)
            .chain(self.more_links.iter().cloned())
            .collect()
    }

    pub(super) fn check_links(&self) -> Result<(), Error> {
        let links = self.links();
        for (number, link) in links.iter().enumerate() {
            let place = match number {
                0 => String::new(),
                _ => format!("more_links[{}].", number - 1),
            };
            link.check(&place)?;
            if links[..number].iter().any(|other| other.link == link.link) {
                return Err(Error::config(format!(
                    "{place}link: another link is named '{}' already",
                    link.link
                )));
            }
        }
        Ok(())
    }
}
