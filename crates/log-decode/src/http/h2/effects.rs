// SPDX-License-Identifier: Apache-2.0
//! Effects of frames on streams and windows: ends, resets, more room, settings.

use super::frames;
use super::frames::END_STREAM;
use super::reader::FrameHeader;
use super::state::State;
use super::windows::Owner;
use crate::http::names;
use crate::tables::{Parameter, Tables};
use crate::Direction;

const INITIAL_WINDOW_SIZE: u16 = 0x4;
/// SETTINGS frames that are looked into; every one may move the windows of all streams.
const MAX_SETTINGS_FRAMES: u32 = 1000;

impl State {
    pub(super) fn end_stream(
        &mut self,
        direction: Direction,
        id: u32,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        if let Some(stream) = self.streams.get(id) {
            stream.end(direction, time_ns);
            let owner = Owner {
                direction,
                stream_id: Some(id),
            };
            let window = &mut stream.sides.of_mut(direction).window;
            self.windows
                .release(owner, window, time_ns, &self.context, tables);
        }
        self.streams.close(id, &self.context, tables);
    }

    pub(super) fn end_of_data(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let ends = header.has(END_STREAM);
        if ends {
            self.end_stream(direction, header.stream_id, time_ns, tables);
        }
        let Self {
            context,
            streams,
            windows,
            ..
        } = self;
        // When a sender learnt of more room, only a capture at its own end shows.
        if context.vantage != Some(direction.sender()) {
            tables.cannot_tell(
                "flow_control",
                Some("event"),
                "HTTP/2: when a sender had used up its window shows only in a capture at its own end",
            );
            return;
        }
        if !ends {
            if let Some(stream) = streams.get(header.stream_id) {
                let owner = Owner {
                    direction,
                    stream_id: Some(header.stream_id),
                };
                let window = &mut stream.sides.of_mut(direction).window;
                windows.block(owner, window, time_ns, context, tables);
            }
        }
        if !ends || !streams.is_empty() {
            windows.of_connection(direction, |windows, owner, window| {
                windows.block(owner, window, time_ns, context, tables);
            });
        }
    }

    pub(super) fn window_update(
        &mut self,
        direction: Direction,
        id: u32,
        increment: u64,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let Self {
            context,
            streams,
            windows,
            ..
        } = self;
        if id == 0 {
            windows.of_connection(direction, |windows, owner, window| {
                window.grow(increment);
                windows.limit(owner, window, time_ns, context, tables);
            });
        } else if let Some(stream) = streams.get(id) {
            let owner = Owner {
                direction,
                stream_id: Some(id),
            };
            let window = &mut stream.sides.of_mut(direction).window;
            window.grow(increment);
            windows.limit(owner, window, time_ns, context, tables);
        }
    }

    pub(super) fn settings(
        &mut self,
        direction: Direction,
        time_ns: i64,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        self.settings_frames = self.settings_frames.saturating_add(1);
        if self.settings_frames > MAX_SETTINGS_FRAMES {
            self.windows.lose(direction);
            return;
        }
        let owner = direction.sender().as_str();
        for (id, value) in frames::settings(payload) {
            tables.parameters.push(Parameter {
                vantage: self.context.vantage(),
                connection: Some(&self.context.connection),
                time_ns,
                name: &format!("settings.{owner}.{}", names::h2_setting(id)),
                value: &value.to_string(),
            });
            if id == INITIAL_WINDOW_SIZE {
                self.windows.set_initial(direction.reverse(), value);
            }
        }
        for (id, stream) in self.streams.iter_mut() {
            let owner = Owner {
                direction: direction.reverse(),
                stream_id: Some(id),
            };
            let window = &mut stream.sides.of_mut(owner.direction).window;
            self.windows
                .unblock(owner, window, time_ns, &self.context, tables);
        }
    }

    pub(super) fn reset(
        &mut self,
        direction: Direction,
        id: u32,
        code: u32,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        if let Some(stream) = self.streams.get(id) {
            let error = names::h2_error(code);
            stream.reset(direction, (code != 0).then_some(&*error));
            for direction in [Direction::Up, Direction::Down] {
                let owner = Owner {
                    direction,
                    stream_id: Some(id),
                };
                let window = &mut stream.sides.of_mut(direction).window;
                self.windows
                    .release(owner, window, time_ns, &self.context, tables);
            }
        }
        self.streams.close(id, &self.context, tables);
    }
}
