// SPDX-License-Identifier: Apache-2.0
//! One download over one new connection, or several at once, started by a line on stdin.

mod several;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::Uri;
use quinn::crypto::rustls::HandshakeData;
use quinn::{
    AsyncUdpSocket, ClientConfig, Connection, ConnectionId, Endpoint, EndpointConfig, TokioRuntime,
    VarInt,
};
use sha2::{Digest, Sha256};

use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::job::{ClientJob, Migration};
use crate::knobs::CongestionControl;
use crate::rebinding::ReplaceableSocket;
use crate::report::{self, Request};
use crate::{qlog, socket, tls, transport};

/// RFC 9114 section 8.1.
const H3_NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// How long the connection may take to send its `CONNECTION_CLOSE`.
const CLOSING: Duration = Duration::from_millis(200);

/// Loads everything, waits for the word, downloads, writes the report.
pub fn run(job: ClientJob) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let visit = runtime.block_on(async { Visit::prepare(&job) })?;
    io::stdin().read_line(&mut String::new())?;
    let requests = runtime.block_on(async {
        match job.other_urls {
            None => vec![visit.download(job.url).await],
            Some(others) => {
                let urls = std::iter::once(job.url).chain(others).collect();
                let concurrency = job.concurrency.unwrap_or(1);
                visit.download_all(urls, concurrency).await
            }
        }
    });
    drop(runtime);
    let error = requests.iter().find_map(|request| request.error.clone());
    report::write(&job.output, requests)?;
    error.map_or(Ok(()), |reason| Err(Error::Transfer(reason)))
}

struct Visit {
    endpoint: Endpoint,
    /// Only where the address changes behind quinn's back.
    replaceable: Option<Arc<ReplaceableSocket>>,
    config: ClientConfig,
    peer: SocketAddr,
    host: String,
    uri: Uri,
    algorithm: CongestionControl,
    migration: Option<(Migration, u64)>,
    ecn: Option<bool>,
}

/// What has arrived so far.
#[derive(Default)]
struct Answer {
    status: Option<u16>,
    alpn: Option<String>,
    first_byte_ns: Option<i64>,
    last_byte_ns: Option<i64>,
    body: Vec<Bytes>,
    /// `PATH_RESPONSE` frames sent before the address changed.
    responses_before: Option<u64>,
}

impl Visit {
    fn prepare(job: &ClientJob) -> Result<Self, Error> {
        let uri: Uri = job
            .url
            .parse()
            .map_err(|error| Error::Asked(format!("{}: {error}", job.url)))?;
        let mut first_bytes = [0; 20];
        let random = tls::provider(None).secure_random;
        random
            .fill(&mut first_bytes)
            .map_err(|_| Error::Tls("the system gives no random numbers".into()))?;
        let original = ConnectionId::new(&first_bytes);
        qlog::prepare(job.qlog_dir.as_deref())?;
        let log = match &job.qlog_dir {
            Some(folder) => qlog::stream(folder, original, "client")?,
            None => None,
        };
        let mut config = ClientConfig::new(Arc::new(tls::client(job)?));
        config
            .initial_dst_cid_provider(Arc::new(move || original))
            .transport_config(Arc::new(transport::transport(&job.knobs, log, None)));
        let (endpoint, replaceable) = endpoint(job)?;
        Ok(Self {
            endpoint,
            replaceable,
            config,
            peer: SocketAddr::new(job.address, job.port),
            host: job.host.clone(),
            uri,
            algorithm: transport::congestion_control(&job.knobs),
            migration: job.migration.zip(job.migrate_at_bytes),
            ecn: job.knobs.ecn,
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
        let protocol = answer.alpn.clone();
        let mut request = self
            .account(url, start_ns, close_ns, &answer, outcome.err())
            .over(protocol);
        request.migrated = migrated;
        request
    }

    fn account(
        &self,
        url: String,
        start_ns: i64,
        close_ns: i64,
        answer: &Answer,
        error: Option<String>,
    ) -> Request {
        let mut hash = Sha256::new();
        answer.body.iter().for_each(|part| hash.update(part));
        Request {
            url,
            protocol: "h3",
            start_ns,
            first_byte_ns: answer.first_byte_ns,
            last_byte_ns: answer.last_byte_ns.unwrap_or(close_ns),
            close_ns,
            status: answer.status,
            http_version: if answer.status.is_some() {
                "HTTP/3"
            } else {
                "unknown"
            },
            body_bytes: answer.body.iter().map(Bytes::len).sum(),
            sha256: tls::hex(&hash.finalize()),
            congestion_control: self.algorithm.name(),
            alpn: None,
            resumed: false,
            early_data: "not_offered",
            migrated: None,
            error,
        }
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
        let new = socket::bind_towards(self.peer.ip()).map_err(text)?;
        let new = socket::for_quinn(new, self.ecn).map_err(text)?;
        match (migration, &self.replaceable) {
            (Migration::Rebinding, Some(replaceable)) => {
                replaceable.replace(new);
                Ok(())
            }
            _ => self.endpoint.rebind_abstract(new).map_err(text),
        }
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

type ClientEndpoint = (Endpoint, Option<Arc<ReplaceableSocket>>);

fn endpoint(job: &ClientJob) -> Result<ClientEndpoint, Error> {
    let socket = socket::for_quinn(socket::bind_towards(job.address)?, job.knobs.ecn)?;
    let replaceable = (job.migration == Some(Migration::Rebinding))
        .then(|| Arc::new(ReplaceableSocket::new(socket.clone())));
    let used: Arc<dyn AsyncUdpSocket> = match &replaceable {
        Some(replaceable) => replaceable.clone(),
        None => socket,
    };
    let endpoint = Endpoint::new_with_abstract_socket(
        EndpointConfig::default(),
        None,
        used,
        Arc::new(TokioRuntime),
    )?;
    Ok((endpoint, replaceable))
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
async fn close(connection: &Connection) -> i64 {
    let close_ns = monotonic_ns();
    connection.close(H3_NO_ERROR, b"");
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
