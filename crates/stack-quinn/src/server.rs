// SPDX-License-Identifier: Apache-2.0
//! Serves files below a folder until SIGTERM.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::server::RequestStream;
use http::{header, Method, Response};
use quinn::{Connecting, Connection, ConnectionError, VarInt};
use stack_common::failure::Failure;
use stack_common::files::Files;
use stack_common::{http3, logs};
use tokio::signal::unix::{signal, SignalKind};

use crate::ends::{resolve, Arrived, Asked, ServerEnd, StreamError};
use crate::job::{ServerJob, Trickle};

/// Longest time in which open connections send their `CONNECTION_CLOSE`.
const CLOSING: Duration = Duration::from_millis(100);

/// Bytes of a file that are read at a time.
const PIECE: usize = 128 << 10;

type H3Connection = h3::server::Connection<h3_quinn::Connection, Bytes>;
/// A request whose header was read.
pub type H3Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// Binds, then serves.
pub fn run(job: ServerJob) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::start)?;
    let site = Arc::new(Site::new(job)?);
    runtime.block_on(serve(site))
}

struct Site {
    job: ServerJob,
    files: Files,
    end: ServerEnd,
}

impl Site {
    fn new(job: ServerJob) -> Result<Self, Failure> {
        let service = &job.service;
        logs::make_folder(service.qlog_dir.as_deref())?;
        let files = Files::below(&service.root, service.content_type.as_deref())
            .map_err(|error| Failure::unreadable(&service.root, error))?;
        let end = ServerEnd::configure(&job)?;
        if let Some(content_type) = &service.content_type {
            header::HeaderValue::from_str(content_type).map_err(|_| {
                Failure::Usage(format!("content_type {content_type:?} is no header value"))
            })?;
        }
        Ok(Self { job, files, end })
    }
}

async fn serve(site: Arc<Site>) -> Result<(), Failure> {
    let mut terminated = signal(SignalKind::terminate()).map_err(Failure::start)?;
    let endpoint = site.end.listen(&site.job)?;
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => { tokio::spawn(connection(site.clone(), incoming)); }
                None => break,
            },
        }
    }
    endpoint.close(VarInt::from_u32(http3::NO_ERROR), b"");
    let _ = tokio::time::timeout(CLOSING, endpoint.wait_idle()).await;
    Ok(())
}

/// Ends when the connection does; its failures are the client's to tell.
async fn connection(site: Arc<Site>, arrived: Arrived) {
    let Some(connecting) = site.end.begin(&site.job, arrived) else {
        return;
    };
    let connected = if site.job.service.early_data {
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

async fn answer(site: Arc<Site>, asked: Asked) {
    let Some((request, stream)) = resolve(asked).await else {
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
    let answer = served.files.answer(method.as_str(), path);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    // Its parts were checked at the start.
    let Ok(response) = response.body(()) else {
        stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
        return Ok(());
    };
    stream.send_response(response).await?;
    if let Some((file, size)) = answer.body {
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
