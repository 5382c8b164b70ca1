// SPDX-License-Identifier: Apache-2.0
//! The I/O around link-core: devices, timers, logs.

pub mod calendar;
pub mod checksum;
pub mod clock;
pub mod config;
pub mod control;
pub mod counters;
pub mod device;
pub mod error;
pub mod forwarder;
pub mod histogram;
pub mod lane;
pub mod link;
pub mod log;
pub mod own_file;
pub mod packet;
pub mod pool;
pub mod segment;
pub mod stalls;
pub mod summary;
pub mod tcp_info;
pub mod timer;
pub mod train;
pub mod vnet;
pub mod waiting;
