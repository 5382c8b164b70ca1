// SPDX-License-Identifier: Apache-2.0
//! The bytes of a connection in their order, on their way to the layer above TCP.

use super::Flow;
use crate::tables::Tables;
use crate::tcp::segment::{Segment, FIN, RST};
use crate::tcp::stream::Piece;
use crate::tcp::way::Way;
use crate::Direction;

impl Flow {
    /// Give the bytes that are in order now to the layer above.
    pub(super) fn hand_on(
        &mut self,
        segment: &Segment<'_>,
        direction: Direction,
        data: u64,
        data_end: u64,
        tables: &mut Tables,
    ) {
        if self.layer.is_done() {
            return;
        }
        let (way, back) = match direction {
            Direction::Up => (&mut self.up, &mut self.down),
            Direction::Down => (&mut self.down, &mut self.up),
        };
        let had_ended = way.has_ended();
        if segment.has(FIN) {
            way.end = Some(data_end);
        }
        let (time_ns, trips, layer) = (segment.time_ns, &mut self.trips, &mut self.layer);
        if data_end > data {
            way.stream.push(
                data,
                segment.payload,
                segment.length.into(),
                way.acknowledged,
                &mut |piece| match piece {
                    Piece::Bytes(bytes) => layer.data(direction, time_ns, bytes, trips, tables),
                    Piece::Missing(bytes) => layer.gap(direction, bytes, tables),
                },
            );
        }
        if way.has_ended() && !had_ended {
            layer.end(direction, time_ns, tables);
        }
        if segment.ack.is_some() {
            let direction = direction.reverse();
            back.stream
                .acknowledge(back.acknowledged, &mut |piece| match piece {
                    Piece::Bytes(bytes) => layer.data(direction, time_ns, bytes, trips, tables),
                    Piece::Missing(bytes) => layer.gap(direction, bytes, tables),
                });
        }
        let over = |way: &Way| way.has_ended() && way.acknowledged >= way.next;
        // A reset in answer to the SYN need not be the end: some clients ask again.
        let is_reset = segment.has(RST) && layer.has_begun();
        if over(way) && over(back) || is_reset {
            layer.finish(tables);
        }
        if layer.is_done() {
            way.stream.forget();
            back.stream.forget();
        }
    }
}
