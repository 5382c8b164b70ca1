// SPDX-License-Identifier: Apache-2.0
//! JSON documents of any size, walked without holding them.

mod scanner;

pub(crate) use scanner::{Broken, Scanner};
