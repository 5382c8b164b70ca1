// SPDX-License-Identifier: Apache-2.0
//! Change of a direction's settings while packets are in it.

use link_core::Nanos;

use super::Waiting;
use crate::config::Replaced;

impl Waiting {
    /// Changes the settings from `at` on, in the model's time. What waits keeps what was decided of it.
    pub fn change(&mut self, at: Nanos, replaced: &Replaced) {
        let Replaced {
            before,
            after,
            written,
        } = replaced;
        self.model.change(at, before, after);
        self.passage.unlimited &= written.is_unlimited();
    }

    /// True while what passes is not yet of the workload, because it is still to be told to begin.
    #[must_use]
    pub fn is_to_begin(&self) -> bool {
        self.unused.is_some()
    }

    /// True if the queue is managed, or may be.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.model.is_managed()
    }
}
