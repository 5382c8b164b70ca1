// SPDX-License-Identifier: Apache-2.0
//! One download over one new connection, or several at once, started by a line on stdin.

mod several;

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::Uri;
use quinn::crypto::rustls::HandshakeData;
use quinn::{ClientConfig, Connection, VarInt};
use sha2::{Digest, Sha256};
use stack_common::clock::monotonic_ns;
use stack_common::failure::Failure;
use stack_common::job::Migration;
use stack_common::report::{self, EarlyData, Request};
use stack_common::{http3, logs, program};

use crate::ends::{client_config, ClientEnd};
use crate::job::ClientJob;
use crate::knobs::CongestionControl;
use crate::{transport, versions};

/// Longest time in which the connection sends its `CONNECTION_CLOSE`.
const CLOSING: Duration = Duration::from_millis(200);

/// Loads everything, waits for the word, downloads, writes the report.
pub fn run(job: ClientJob) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::start)?;
    let visit = runtime.block_on(async { Visit::prepare(&job) })?;
    program::wait_for_go().map_err(Failure::start)?;
    let transfer = job.transfer;
    let requests = runtime.block_on(async {
        match transfer.other_urls {
            None => vec![visit.download(transfer.url).await],
            Some(others) => {
                let urls = std::iter::once(transfer.url).chain(others).collect();
                let concurrency = transfer.concurrency.unwrap_or(1);
                visit.download_all(urls, concurrency).await
            }
        }
    });
    drop(runtime);
    let error = requests.iter().find_map(|request| request.error.clone());
    report::write(&transfer.output, &versions(), &requests)?;
    error.map_or(Ok(()), |reason| Err(Failure::Run(reason)))
}

struct Visit {
    end: ClientEnd,
    config: ClientConfig,
    peer: SocketAddr,
    host: String,
    uri: Uri,
    algorithm: CongestionControl,
    migration: Option<(Migration, u64)>,
}

/// Part of the answer that has arrived.
#[derive(Default)]
struct Answer {
    status: Option<u16>,
    alpn: Option<String>,
    first_byte_ns: Option<u64>,
    last_byte_ns: Option<u64>,
    body: Vec<Bytes>,
    /// `PATH_RESPONSE` frames sent before the address changed.
    responses_before: Option<u64>,
}

impl Visit {
    fn prepare(job: &ClientJob) -> Result<Self, Failure> {
        let transfer = &job.transfer;
        let uri: Uri = transfer
            .url
            .parse()
            .map_err(|error| Failure::Usage(format!("{}: {error}", transfer.url)))?;
        logs::make_folder(transfer.qlog_dir.as_deref())?;
        let config = client_config(job)?;
        Ok(Self {
            end: ClientEnd::open(job)?,
            config,
            peer: transfer.server(),
            host: transfer.host.clone(),
            uri,
            algorithm: transport::congestion_control(&job.knobs),
            migration: transfer.migration.zip(transfer.migrate_at_bytes),
        })
    }

    async fn download(self, url: String) -> Request {
        let start_ns = monotonic_ns();
        let mut answer = Answer::default();
        let outcome = self.connect_and_get(&mut answer).await;
        let (migrated, close_ns) = match outcome.as_ref() {
            Ok(connection) => (self.migrated(connection, &answer), close(connection).await),
            Err(_) => (self.migration.map(|_| false), monotonic_ns()),
        };
        let mut request = self.account(&url, start_ns, close_ns, &answer, outcome.err());
        request.alpn = answer.alpn;
        request.migrated = migrated;
        request
    }

    fn account(
        &self,
        url: &str,
        start_ns: u64,
        close_ns: u64,
        answer: &Answer,
        error: Option<String>,
    ) -> Request {
        let mut request = Request {
            start_ns,
            first_byte_ns: answer.first_byte_ns,
            last_byte_ns: answer.last_byte_ns.unwrap_or(close_ns),
            close_ns,
            status: answer.status,
            congestion_control: Some(self.algorithm.name()),
            resumed: Some(false),
            early_data: Some(EarlyData::NotOffered),
            error,
            ..Request::begin(url)
        };
        if answer.status.is_some() {
            request.http_version = "HTTP/3";
        }
        let mut hash = Sha256::new();
        answer.body.iter().for_each(|part| hash.update(part));
        let bytes = answer.body.iter().map(Bytes::len).sum();
        request.describe(bytes, &hash.finalize());
        request
    }

    async fn connect_and_get(&self, answer: &mut Answer) -> Result<Connection, String> {
        let connection = self.connect().await?;
        answer.alpn = alpn(&connection);
        let got = self.get(&connection, answer).await;
        // HTTP/3 knows that the connection is gone, QUIC knows why.
        got.map_err(|error| connection.close_reason().map_or(error, text))?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<Connection, String> {
        let connecting = self
            .end
            .endpoint
            .connect_with(self.config.clone(), self.peer, &self.host)
            .map_err(text)?;
        connecting.await.map_err(text)
    }

    async fn get(&self, connection: &Connection, answer: &mut Answer) -> Result<(), String> {
        let (mut driver, mut sender) = h3::client::builder()
            // nginx 1.26 as a proxy resets a request with a reserved frame in it (RFC 9114 section 7.2.8).
            .send_grease(false)
            .build::<_, _, Bytes>(h3_quinn::Connection::new(connection.clone()))
            .await
            .map_err(text)?;
        let control = tokio::spawn(async move { driver.wait_idle().await });
        let request = http::Request::get(self.uri.clone())
            .body(())
            .map_err(text)?;
        let mut stream = sender.send_request(request).await.map_err(text)?;
        stream.finish().await.map_err(text)?;
        answer.status = Some(
            stream
                .recv_response()
                .await
                .map_err(text)?
                .status()
                .as_u16(),
        );
        let mut received = 0;
        while let Some(mut data) = stream.recv_data().await.map_err(text)? {
            if answer.first_byte_ns.is_none() {
                answer.first_byte_ns = Some(monotonic_ns());
            }
            received += data.remaining() as u64;
            answer.body.push(data.copy_to_bytes(data.remaining()));
            self.migrate_when_due(connection, received, answer)?;
        }
        answer.last_byte_ns = Some(monotonic_ns());
        control.abort();
        Ok(())
    }

    fn migrate_when_due(
        &self,
        connection: &Connection,
        received: u64,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let Some((migration, at)) = self.migration else {
            return Ok(());
        };
        if received < at || answer.responses_before.is_some() {
            return Ok(());
        }
        answer.responses_before = Some(connection.stats().frame_tx.path_response);
        self.end.change_address(migration, self.peer)
    }

    fn migrated(&self, connection: &Connection, answer: &Answer) -> Option<bool> {
        self.migration?;
        let responses = connection.stats().frame_tx.path_response;
        Some(
            answer
                .responses_before
                .is_some_and(|before| responses > before),
        )
    }
}

fn alpn(connection: &Connection) -> Option<String> {
    let handshake = connection
        .handshake_data()?
        .downcast::<HandshakeData>()
        .ok()?;
    Some(String::from_utf8_lossy(&handshake.protocol?).into_owned())
}

/// Closes, and waits until the datagram that says so has left: quinn sends it from a task of its own, and a closed
/// connection sends nothing else. The instant of the close.
async fn close(connection: &Connection) -> u64 {
    let close_ns = monotonic_ns();
    connection.close(VarInt::from_u32(http3::NO_ERROR), b"");
    let before = connection.stats().udp_tx.datagrams;
    let sent = async {
        while connection.stats().udp_tx.datagrams == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let _ = tokio::time::timeout(CLOSING, sent).await;
    close_ns
}

#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn text(error: impl ToString) -> String {
    error.to_string()
}
