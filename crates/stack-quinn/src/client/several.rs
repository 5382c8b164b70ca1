// SPDX-License-Identifier: Apache-2.0
//! Several objects over one connection: each is asked for in its turn, as soon as one of the places is free.

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use h3_quinn::OpenStreams;
use http::Uri;
use quinn::Connection;
use stack_common::clock::monotonic_ns;
use stack_common::report::Request;
use tokio::task::JoinSet;

use super::{alpn, close, text, Answer, Visit};

/// One object: its URL, when it was asked for, and what came of it.
struct Object {
    url: String,
    start_ns: Option<u64>,
    answer: Answer,
    error: Option<String>,
}

impl Visit {
    /// Fetches all of them. What hinders the connection hinders every object that is not whole.
    pub async fn download_all(self, urls: Vec<String>, concurrency: usize) -> Vec<Request> {
        let begin_ns = monotonic_ns();
        let mut objects: Vec<Object> = urls
            .into_iter()
            .enumerate()
            .map(|(place, url)| Object {
                url,
                start_ns: (place < concurrency).then_some(begin_ns),
                answer: Answer::default(),
                error: None,
            })
            .collect();
        let mut protocol = None;
        let outcome = self.fetch_all(&mut objects, concurrency).await;
        let close_ns = match &outcome {
            Ok(connection) => {
                protocol = alpn(connection);
                close(connection).await
            }
            Err(_) => monotonic_ns(),
        };
        let failure = outcome.err();
        objects
            .into_iter()
            .map(|object| {
                let whole = object.answer.last_byte_ns.is_some();
                let error = object.error.or_else(|| failure.clone().filter(|_| !whole));
                let start_ns = object.start_ns.unwrap_or(close_ns);
                let mut request =
                    self.account(&object.url, start_ns, close_ns, &object.answer, error);
                request.alpn.clone_from(&protocol);
                request
            })
            .collect()
    }

    async fn fetch_all(
        &self,
        objects: &mut [Object],
        concurrency: usize,
    ) -> Result<Connection, String> {
        let connection = self.connect().await?;
        let (mut driver, sender) = h3::client::builder()
            .send_grease(false)
            .build::<_, _, Bytes>(h3_quinn::Connection::new(connection.clone()))
            .await
            .map_err(text)?;
        let control = tokio::spawn(async move { driver.wait_idle().await });
        let mut waiting = objects
            .iter()
            .map(|object| object.url.clone())
            .enumerate()
            .collect::<Vec<_>>()
            .into_iter();
        let mut under_way = JoinSet::new();
        loop {
            while under_way.len() < concurrency {
                let Some((place, url)) = waiting.next() else {
                    break;
                };
                objects[place].start_ns.get_or_insert_with(monotonic_ns);
                under_way.spawn(fetch(place, url, sender.clone()));
            }
            let Some(fetched) = under_way.join_next().await else {
                break;
            };
            let (place, answer, outcome) = fetched.map_err(text)?;
            objects[place].answer = answer;
            // HTTP/3 knows that the connection is gone, QUIC knows why.
            objects[place].error = outcome
                .err()
                .map(|error| connection.close_reason().map_or(error, text));
        }
        control.abort();
        Ok(connection)
    }
}

async fn fetch(
    place: usize,
    url: String,
    sender: SendRequest<OpenStreams, Bytes>,
) -> (usize, Answer, Result<(), String>) {
    let mut answer = Answer::default();
    let outcome = receive(&url, sender, &mut answer).await;
    if outcome.is_err() {
        answer.last_byte_ns = None;
    }
    (place, answer, outcome)
}

async fn receive(
    url: &str,
    mut sender: SendRequest<OpenStreams, Bytes>,
    answer: &mut Answer,
) -> Result<(), String> {
    let uri: Uri = url.parse().map_err(text)?;
    let request = http::Request::get(uri).body(()).map_err(text)?;
    let mut stream = sender.send_request(request).await.map_err(text)?;
    stream.finish().await.map_err(text)?;
    let response = stream.recv_response().await.map_err(text)?;
    answer.status = Some(response.status().as_u16());
    while let Some(mut data) = stream.recv_data().await.map_err(text)? {
        answer.first_byte_ns.get_or_insert_with(monotonic_ns);
        answer.body.push(data.copy_to_bytes(data.remaining()));
    }
    answer.last_byte_ns = Some(monotonic_ns());
    Ok(())
}
