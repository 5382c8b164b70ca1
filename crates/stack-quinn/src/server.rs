// SPDX-License-Identifier: Apache-2.0
//! Serves files below a folder until SIGTERM.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::error::StreamError;
use h3::server::{RequestResolver, RequestStream};
use http::{header, Method, Response, StatusCode};
use quinn::{Connecting, Connection, ConnectionError};
use quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime, VarInt};
use quinn_proto::RttEstimator;
use tokio::signal::unix::{signal, SignalKind};

use crate::error::Error;
use crate::job::{ServerJob, Trickle};
use crate::{false_sample, files, qlog, socket, tls, transport};

/// RFC 9114 section 8.1.
const H3_NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// How long open connections may take to say that they close.
const CLOSING: Duration = Duration::from_millis(100);

/// Bytes of a file that are read at a time.
const PIECE: usize = 128 << 10;

type H3Connection = h3::server::Connection<h3_quinn::Connection, Bytes>;
type H3Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// Binds, then serves.
pub fn run(job: ServerJob) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let site = Arc::new(Site::new(job)?);
    runtime.block_on(serve(site))
}

struct Site {
    job: ServerJob,
    /// Canonical path of the folder whose files are served.
    root: PathBuf,
    config: ServerConfig,
    false_sample: Option<RttEstimator>,
    content_type: header::HeaderValue,
}

impl Site {
    fn new(job: ServerJob) -> Result<Self, Error> {
        qlog::prepare(job.qlog_dir.as_deref())?;
        let root = job
            .root
            .canonicalize()
            .map_err(|error| Error::unreadable(&job.root, &error))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls::server(&job)?));
        let false_sample = job.false_rtt_sample_ns.map(|ns| {
            let (client, server) = tls::with_itself(&job)?;
            false_sample::estimate(Duration::from_nanos(ns), client, server)
        });
        let false_sample = false_sample.transpose()?;
        let transport = transport::transport(&job.knobs, None, false_sample);
        config.transport_config(Arc::new(transport));
        let content_type = header::HeaderValue::from_str(&job.content_type).map_err(|_| {
            Error::Asked(format!(
                "content_type {:?} is no header value",
                job.content_type
            ))
        })?;
        Ok(Self {
            job,
            root,
            config,
            false_sample,
            content_type,
        })
    }

    /// Configuration of one connection, with a qlog of its own where there are qlogs.
    fn config_for(&self, incoming: &Incoming) -> Arc<ServerConfig> {
        let mut config = self.config.clone();
        if let Some(folder) = &self.job.qlog_dir {
            // A connection without its log is better than none; the laboratory sees that the log is missing.
            let log = qlog::stream(folder, incoming.orig_dst_cid(), "server").unwrap_or(None);
            config.transport_config(Arc::new(transport::transport(
                &self.job.knobs,
                log,
                self.false_sample,
            )));
        }
        Arc::new(config)
    }
}

async fn serve(site: Arc<Site>) -> Result<(), Error> {
    let mut terminated = signal(SignalKind::terminate())?;
    let socket = socket::bind(site.job.listen)?;
    let config = Some(site.config.clone());
    let endpoint = Endpoint::new_with_abstract_socket(
        EndpointConfig::default(),
        config,
        socket::for_quinn(socket, site.job.knobs.ecn)?,
        Arc::new(TokioRuntime),
    )?;
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => { tokio::spawn(connection(site.clone(), incoming)); }
                None => break,
            },
        }
    }
    endpoint.close(H3_NO_ERROR, b"");
    let _ = tokio::time::timeout(CLOSING, endpoint.wait_idle()).await;
    Ok(())
}

/// Ends when the connection does; its failures are the client's to tell.
async fn connection(site: Arc<Site>, incoming: Incoming) {
    let config = site.config_for(&incoming);
    let Ok(connecting) = incoming.accept_with(config) else {
        return;
    };
    let connected = if site.job.early_data {
        at_once(connecting).await
    } else {
        connecting.await
    };
    let Ok(connection) = connected else { return };
    let Ok(mut connection) = H3Connection::new(h3_quinn::Connection::new(connection)).await else {
        return;
    };
    while let Ok(Some(request)) = connection.accept().await {
        tokio::spawn(answer(site.clone(), request));
    }
}

/// Take up a connection before its handshake is complete, for early data would wait until then; but not before the
/// whole `ClientHello` is here: to a client whose `ClientHello` takes two datagrams (quiche, quic-go) quinn would never
/// open a stream of its own.
async fn at_once(mut connecting: Connecting) -> Result<Connection, ConnectionError> {
    connecting.handshake_data().await?;
    match connecting.into_0rtt() {
        Ok((connection, _)) => Ok(connection),
        Err(connecting) => connecting.await,
    }
}

async fn answer(site: Arc<Site>, request: RequestResolver<h3_quinn::Connection, Bytes>) {
    let Ok((request, stream)) = request.resolve_request().await else {
        return;
    };
    let (method, path) = (request.method(), request.uri().path());
    // A stream that fails is the client's loss and told by it.
    let _ = respond(&site, method, path, stream).await;
}

async fn respond(
    served: &Site,
    method: &Method,
    path: &str,
    mut stream: H3Stream,
) -> Result<(), StreamError> {
    let found = files::open(&served.root, path);
    let (status, size) = match (&found, method) {
        (_, method) if method != Method::GET && method != Method::HEAD => {
            (StatusCode::METHOD_NOT_ALLOWED, 0)
        }
        (None, _) => (StatusCode::NOT_FOUND, 0),
        (Some((_, size)), _) => (StatusCode::OK, *size),
    };
    let mut response = Response::new(());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, size.into());
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    headers.insert(header::CONTENT_TYPE, served.content_type.clone());
    stream.send_response(response).await?;
    if let (StatusCode::OK, Some((file, size)), &Method::GET) = (status, found, method) {
        body(file, size, served.job.trickle, &mut stream).await?;
    }
    stream.finish().await?;
    // A request that goes out of scope before its end was read is answered with STOP_SENDING and code 0, which curl
    // takes for a response that failed.
    while stream.recv_data().await?.is_some() {}
    Ok(())
}

/// Exactly `size` bytes, or a stream that is reset and cannot be finished.
async fn body(
    mut file: File,
    size: u64,
    trickle: Option<Trickle>,
    stream: &mut H3Stream,
) -> Result<(), StreamError> {
    let most = trickle.map_or(PIECE, |trickle| trickle.piece_bytes.get());
    let mut left = size;
    while left > 0 {
        let piece = usize::try_from(left).map_or(most, |left| left.min(most));
        let Ok(bytes) = read(&mut file, piece) else {
            stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
            return Ok(());
        };
        left -= piece as u64;
        stream.send_data(bytes).await?;
        if let (Some(trickle), 1..) = (trickle, left) {
            tokio::time::sleep(Duration::from_nanos(trickle.pause_ns)).await;
        }
    }
    Ok(())
}

fn read(file: &mut File, size: usize) -> io::Result<Bytes> {
    let mut buffer = vec![0; size];
    file.read_exact(&mut buffer)?;
    Ok(buffer.into())
}
