// SPDX-License-Identifier: Apache-2.0
//! The requests of a visit: each is sent in its turn, as soon as one of the places is free.

use std::collections::{BTreeMap, VecDeque};

use quiche::h3::{self, Header};
use stack_common::clock::monotonic_ns;
use stack_common::failure::Failure;

use crate::answer::Answer;

/// One object.
struct Object {
    headers: Vec<Header>,
    start_ns: Option<u64>,
    answer: Answer,
}

/// All objects of a connection.
pub struct Requests {
    objects: Vec<Object>,
    waiting: VecDeque<usize>,
    under_way: usize,
    concurrency: usize,
    /// Stream to place in the list.
    places: BTreeMap<u64, usize>,
    piece: Vec<u8>,
}

impl Requests {
    /// Authority and path of each; so many of them at once.
    pub fn new(objects: &[(&str, &str)], concurrency: usize) -> Self {
        let objects: Vec<Object> = objects
            .iter()
            .map(|(authority, path)| Object {
                headers: get(authority, path),
                start_ns: None,
                answer: Answer::default(),
            })
            .collect();
        Self {
            waiting: (0..objects.len()).collect(),
            objects,
            under_way: 0,
            concurrency,
            places: BTreeMap::new(),
            piece: vec![0; 65_536],
        }
    }

    /// Send what has a place, as far as the server lets the client open streams.
    pub fn send(
        &mut self,
        quic: &mut quiche::Connection,
        http: &mut h3::Connection,
    ) -> Result<(), Failure> {
        while self.under_way < self.concurrency {
            let Some(&place) = self.waiting.front() else {
                break;
            };
            let object = &mut self.objects[place];
            if place >= self.concurrency {
                object.start_ns.get_or_insert_with(monotonic_ns);
            }
            if quic.peer_streams_left_bidi() == 0 {
                break;
            }
            let stream = match http.send_request(quic, &object.headers, true) {
                Ok(stream) => stream,
                Err(h3::Error::StreamBlocked) if self.under_way > 0 => break,
                Err(error) => return Err(Failure::cannot("send the request", error)),
            };
            self.places.insert(stream, place);
            self.waiting.pop_front();
            self.under_way += 1;
        }
        Ok(())
    }

    /// Take what the library has.
    pub fn read(&mut self, quic: &mut quiche::Connection, http: &mut h3::Connection) {
        while let Ok((stream, event)) = http.poll(quic) {
            let Some(&place) = self.places.get(&stream) else {
                continue;
            };
            let answer = &mut self.objects[place].answer;
            let before = answer.last_byte_ns.is_some();
            if matches!(event, h3::Event::Data) {
                while let Ok(length) = http.recv_body(quic, stream, &mut self.piece) {
                    answer.add(&self.piece[..length]);
                }
            } else {
                answer.note(&event);
            }
            if !before && answer.last_byte_ns.is_some() {
                self.under_way -= 1;
            }
        }
    }

    /// Nothing more will come.
    pub fn are_answered(&self) -> bool {
        self.objects
            .iter()
            .all(|object| object.answer.last_byte_ns.is_some())
    }

    /// Bytes of all bodies so far.
    pub fn received(&self) -> u64 {
        let bytes = self.objects.iter().map(|object| object.answer.body.len());
        bytes.sum::<usize>() as u64
    }

    /// True if any body has begun.
    pub fn have_begun(&self) -> bool {
        let mut answers = self.objects.iter().map(|object| &object.answer);
        answers.any(|answer| answer.first_byte_ns.is_some())
    }

    /// Reason of the first answer that is not whole.
    pub fn error(&self) -> Option<&str> {
        let mut answers = self.objects.iter().map(|object| &object.answer);
        answers.find_map(|answer| answer.error.as_deref())
    }

    /// Every object's answer, with the instant at which it was asked for where it had to wait for others.
    pub fn answers(&self) -> impl Iterator<Item = (Option<u64>, &Answer)> {
        let objects = self.objects.iter();
        objects.map(|object| (object.start_ns, &object.answer))
    }
}

fn get(authority: &str, path: &str) -> Vec<Header> {
    [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", authority),
        (":path", path),
    ]
    .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
    .to_vec()
}
