// SPDX-License-Identifier: Apache-2.0
//! An explicit list of packets to drop.

#[derive(Clone, Debug)]
pub(super) struct State {
    indices: Vec<u32>,
}

impl State {
    /// `indices` in ascending order.
    pub(super) fn new(indices: Vec<u32>) -> Self {
        Self { indices }
    }

    pub(super) fn loses(&self, index: u32) -> bool {
        self.indices.binary_search(&index).is_ok()
    }
}
