// SPDX-License-Identifier: Apache-2.0
//! Reasons for drops at the stage of loss.

use super::LossAt;
use crate::loss::LossKind;
use crate::verdict::DropReason;

impl LossKind {
    pub(super) fn reason(self, at: LossAt) -> DropReason {
        match (self, at) {
            (Self::Listed, _) => DropReason::Listed,
            (Self::Random, LossAt::Entry) => DropReason::LossAtEntry,
            (Self::Random, LossAt::Exit) => DropReason::LossAtExit,
        }
    }
}
