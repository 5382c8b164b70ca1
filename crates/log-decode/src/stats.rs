// SPDX-License-Identifier: Apache-2.0
//! Counts of everything in a log that did not become a row, by kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Weight of a kind of finding for numbers that rest on the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is missing: a plain fact about the log.
    Info,
    /// The reader should know it before comparing numbers.
    Notice,
    /// Rows are missing.
    DataLoss,
    /// The rest of the file could not be decoded.
    Error,
}

impl Severity {
    /// The name in the table `decode_stats`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Notice => "notice",
            Self::DataLoss => "data_loss",
            Self::Error => "error",
        }
    }
}

/// One kind of finding in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Weight of the finding.
    pub severity: Severity,
    /// Number of times that it was met.
    pub count: u64,
    /// Advice to the reader: something to do, or to know.
    pub advice: &'static str,
}

/// Distinct names kept per file; a hostile log cannot grow the table without bound.
const MAX_NAMES: usize = 128;

/// All findings of one file, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats(BTreeMap<Cow<'static, str>, Stat>);

impl Stats {
    /// Count one finding.
    pub fn count(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        severity: Severity,
        advice: &'static str,
    ) {
        self.add(name, 1, severity, advice);
    }

    /// Count `count` findings of one kind; nothing is recorded for zero.
    pub fn add(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        count: u64,
        severity: Severity,
        advice: &'static str,
    ) {
        if count == 0 {
            return;
        }
        let name = name.into();
        let name = if self.0.len() >= MAX_NAMES && !self.0.contains_key(&name) {
            Cow::Borrowed("other")
        } else {
            name
        };
        self.0
            .entry(name)
            .or_insert(Stat {
                severity,
                count: 0,
                advice,
            })
            .count += count;
    }

    /// Add all findings of another part of the same file.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, stat) in other.0 {
            self.add(name, stat.count, stat.severity, stat.advice);
        }
    }

    /// The findings, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Stat)> {
        self.0.iter().map(|(name, stat)| (name.as_ref(), stat))
    }

    /// Number of times that `name` was met.
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |stat| stat.count)
    }
}
