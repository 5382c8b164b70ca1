// SPDX-License-Identifier: Apache-2.0
//! An explicit list of packets to drop.

#[derive(Clone, Debug)]
pub(super) struct State {
    indices: Vec<u32>,
    next: usize,
}

impl State {
    /// `indices` in ascending order.
    pub(super) fn new(indices: Vec<u32>) -> Self {
        Self { indices, next: 0 }
    }

    pub(super) fn loses(&mut self, index: u32) -> bool {
        while self
            .indices
            .get(self.next)
            .is_some_and(|&listed| listed < index)
        {
            self.next += 1;
        }
        self.indices.get(self.next) == Some(&index)
    }
}
