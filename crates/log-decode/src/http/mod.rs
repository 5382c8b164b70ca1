// SPDX-License-Identifier: Apache-2.0
//! HTTP over bytes that a transport's decoder hands over in order, in portions of any size.

pub mod h2;
pub mod h3;
