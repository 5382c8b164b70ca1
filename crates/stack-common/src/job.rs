// SPDX-License-Identifier: Apache-2.0
//! The job file: what to fetch or to serve. Null and a missing key mean the library's own; a value that a program does
//! not know is an error.
//!
//! A program's own type of a job has one of these, its knobs, and what it alone can do.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;

/// Job of every client: one download over one new connection.
#[derive(Debug, Deserialize)]
pub struct Transfer {
    /// URL of the object to fetch.
    pub url: String,
    /// URLs of further objects, fetched on the same connection.
    pub other_urls: Option<Vec<String>>,
    /// Most requests under way at once, where there are several objects.
    pub concurrency: Option<usize>,
    /// Address of the server.
    pub address: IpAddr,
    /// Port of the server.
    pub port: u16,
    /// Name in SNI and in the certificate.
    pub host: String,
    protocol: String,
    /// The only authority that is trusted, in PEM.
    pub ca: PathBuf,
    /// True if the certificate is verified.
    #[serde(default = "yes")]
    pub verify: bool,
    /// Folder of the qlogs; none are written without one.
    pub qlog_dir: Option<PathBuf>,
    /// File of the TLS secrets (SSLKEYLOGFILE); none is written without one.
    pub keylog: Option<PathBuf>,
    /// File of the client's account.
    pub output: PathBuf,
    /// File that keeps a TLS session from one visit to the next.
    pub session_file: Option<PathBuf>,
    /// True for a first visit, which only fetches a session.
    #[serde(default)]
    pub priming: bool,
    /// Kind of the address change, if there is one.
    pub migration: Option<Migration>,
    /// Bytes of body after which the address changes.
    pub migrate_at_bytes: Option<u64>,
}

/// Job of every server: serve files until SIGTERM.
#[derive(Debug, Deserialize)]
pub struct Service {
    /// Address and port that the server listens at.
    pub listen: SocketAddr,
    protocols: Vec<String>,
    /// Folder of the files.
    pub root: PathBuf,
    /// Certificate chain in PEM.
    pub certificate: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
    /// Folder of the qlogs; none are written without one.
    pub qlog_dir: Option<PathBuf>,
    /// File of the TLS secrets (SSLKEYLOGFILE); none is written without one.
    pub keylog: Option<PathBuf>,
    /// True if 0-RTT data are accepted.
    #[serde(default)]
    pub early_data: bool,
    /// Content type of all files.
    pub content_type: Option<String>,
}

/// Kinds of address change, by whether the library knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Migration {
    /// The library changes the address, with a new connection ID (RFC 9000 section 9.2).
    Active,
    /// The address changes under the library, as behind a NAT that forgets (RFC 9000 section 9.3.1).
    Rebinding,
}

/// Group of the TLS key exchange, by its name in the TLS registry.
#[expect(missing_docs, reason = "the names are those of the registry")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    X25519,
    Secp256r1,
    Secp384r1,
    X25519MlKem768,
}

/// Order in which the server sends the bodies of concurrent streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// The oldest stream first.
    Fifo,
    /// A packet of each stream in turn.
    RoundRobin,
}

fn yes() -> bool {
    true
}

/// Members of a job that its type does not know.
pub type Unknown = BTreeMap<String, Value>;

/// A job that can be checked after it was parsed.
pub trait Job: DeserializeOwned {
    /// Passes what the library can do.
    ///
    /// # Errors
    /// A sentence with the first thing that the library cannot do.
    fn check(&self) -> Result<(), String>;
}

/// Reads and checks a job file.
///
/// # Errors
/// The file cannot be read, is no job, or asks for what cannot be had.
pub fn read<J: Job>(path: &str) -> Result<J, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::unreadable(Path::new(path), error))?;
    parse(&text).map_err(|why| Failure::Usage(format!("{path}: {why}")))
}

/// Parses and checks the text of a job file.
///
/// # Errors
/// The text is no job, or asks for what cannot be had.
pub fn parse<J: Job>(text: &str) -> Result<J, String> {
    let job: J = serde_json::from_str(text).map_err(|error| error.to_string())?;
    job.check()?;
    Ok(job)
}

impl Transfer {
    /// Address and port of the server.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// All of them, in the order in which they are asked for.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        let others = self.other_urls.iter().flatten();
        std::iter::once(&self.url).chain(others).map(String::as_str)
    }

    /// Passes what every client can do. `unknown` has what is left of the job.
    ///
    /// # Errors
    /// A sentence with the first thing that the library cannot do.
    pub fn check(&self, library: &str, unknown: &Unknown) -> Result<(), String> {
        check_unknown(library, "client", unknown)?;
        if self.protocol != "h3" {
            return Err(speaks_only(library, &self.protocol));
        }
        let several = self.other_urls.is_some();
        if several
            && (self.concurrency.is_none_or(|at_once| at_once == 0) || self.migration.is_some())
        {
            return Err("several objects need a concurrency, and exclude a migration".to_owned());
        }
        Ok(())
    }
}

impl Service {
    /// Passes what every server can do. `unknown` has what is left of the job.
    ///
    /// # Errors
    /// A sentence with the first thing that the library cannot do.
    pub fn check(&self, library: &str, unknown: &Unknown) -> Result<(), String> {
        check_unknown(library, "server", unknown)?;
        if self.protocols != ["h3"] {
            return Err(speaks_only(library, &self.protocols.join(", ")));
        }
        Ok(())
    }
}

fn speaks_only(library: &str, protocols: &str) -> String {
    let asked = if protocols.is_empty() {
        "none"
    } else {
        protocols
    };
    format!("{library} speaks h3 only, not {asked}")
}

/// Keys of other programs are there as null; a value asks for what the library does not have.
fn check_unknown(library: &str, role: &str, unknown: &Unknown) -> Result<(), String> {
    match unknown.iter().find(|(_, value)| !value.is_null()) {
        Some((name, value)) => Err(format!(
            "the {library} {role} has no {name} (asked for: {value})"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct ClientJob {
        #[serde(flatten)]
        transfer: Transfer,
        #[serde(flatten)]
        unknown: Unknown,
    }

    impl Job for ClientJob {
        fn check(&self) -> Result<(), String> {
            self.transfer.check("mvfst", &self.unknown)
        }
    }

    #[derive(Debug, Deserialize)]
    struct ServerJob {
        #[serde(flatten)]
        service: Service,
        #[serde(flatten)]
        unknown: Unknown,
    }

    impl Job for ServerJob {
        fn check(&self) -> Result<(), String> {
            self.service.check("mvfst", &self.unknown)
        }
    }

    fn client(extra: &str) -> Result<ClientJob, String> {
        let text = format!(
            r#"{{"url": "https://a.test/x", "address": "::1", "port": 443, "host": "a.test", "ca": "ca.pem",
                "output": "client.json", "pacing": null {extra}}}"#
        );
        parse(&text)
    }

    const H3: &str = r#", "protocol": "h3""#;

    /// Null stands for every knob of any program, known here or not.
    #[test]
    fn what_is_left_out_is_the_librarys_own() {
        let job = client(H3).expect("a plain job").transfer;
        assert!(job.verify && !job.priming && job.migration.is_none());
        assert_eq!(job.server().to_string(), "[::1]:443");
        assert_eq!(job.urls().collect::<Vec<_>>(), ["https://a.test/x"]);
    }

    /// Each is told by its name.
    #[test]
    fn what_cannot_be_had_is_refused() {
        for (extra, words) in [
            (r#", "protocol": "h2""#, "mvfst speaks h3 only, not h2"),
            (
                r#", "protocol": "h3", "pace": 5"#,
                "the mvfst client has no pace (asked for: 5)",
            ),
            (r#", "protocol": "h3", "migration": "later""#, "later"),
            (
                r#", "protocol": "h3", "other_urls": []"#,
                "need a concurrency",
            ),
            (
                r#", "protocol": "h3", "other_urls": [], "concurrency": 0"#,
                "need a concurrency",
            ),
            (
                r#", "protocol": "h3", "other_urls": [], "concurrency": 1, "migration": "active""#,
                "exclude a migration",
            ),
        ] {
            let why = client(extra).expect_err(extra);
            assert!(why.contains(words), "{extra}: {why}");
        }
    }

    /// Another protocol is refused, even beside HTTP/3.
    #[test]
    fn a_server_speaks_h3_only() {
        let job = |protocols: &str| {
            parse::<ServerJob>(&format!(
                r#"{{"listen": "[::1]:443", "root": "/", "certificate": "c", "key": "k", "protocols": {protocols}}}"#
            ))
        };
        assert!(!job(r#"["h3"]"#).expect("a job").service.early_data);
        let both = job(r#"["h2", "h3"]"#).expect_err("refused");
        assert!(both.contains("h3 only, not h2, h3"), "{both}");
        let none = job("[]").expect_err("refused");
        assert!(none.contains("not none"), "{none}");
    }
}
