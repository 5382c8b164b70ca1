// SPDX-License-Identifier: Apache-2.0
//! Statements of a browser about the load of a page.

use crate::arrow::{table, Binary, Utf8};

table! {
    /// One moment in the load of a page.
    "page_events" => PageEvents, PageEvent {
        time_ns: i64,
        duration_ns: Option<i64>,
        page: Option<Utf8>,
        name: Utf8,
        category: Option<Utf8>,
        process: Option<u64>,
        thread: Option<u64>,
        value: Option<f64>,
        detail: Option<Utf8>,
        image: Option<Binary>,
    }
}
