// SPDX-License-Identifier: Apache-2.0
//! Walks through a qlog document of any size, trace by trace.

pub(super) use crate::json::{Stop, Walker};
use serde_json::Value;
use std::io::Read;

impl<R: Read> Walker<R> {
    /// The value here; `None` if it is too long or no JSON.
    pub(super) fn value(&mut self) -> Result<Option<Value>, Stop> {
        let mut value = None;
        let read = self.item(|reader| {
            let span = reader.value()?;
            value = serde_json::from_slice(span.of(reader.text())).ok();
            Ok(())
        });
        match read {
            Err(Stop::TooLong) => self.skip().map(|()| None),
            read => read.map(|()| value),
        }
    }

    /// Walk through a document: `each` is called at every trace, which it must consume, and with every other member.
    pub(super) fn traces(
        &mut self,
        mut each: impl FnMut(&mut Self, Option<String>, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.object(|walker, key| {
            if key == b"traces" && walker.peek()? == b'[' {
                return walker.items(|walker| each(walker, None, None));
            }
            let key = String::from_utf8_lossy(key).into_owned();
            match walker.value()? {
                Some(value) => each(walker, Some(key), Some(value)),
                None => Ok(()),
            }
        })
    }
}
