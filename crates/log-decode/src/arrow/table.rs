// SPDX-License-Identifier: Apache-2.0
//! Tables: rows of one typed struct go in, chunks of sealed columns come out.

use super::Array;
use std::sync::Arc;

/// Rows per chunk: bounds both the builders' regrowth and the 32-bit offsets of text columns.
pub(crate) const CHUNK_ROWS: usize = 1 << 16;

/// One column's name and type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The column's name.
    pub name: &'static str,
    pub(super) format: &'static str,
    pub(super) item_format: Option<&'static str>,
    pub(super) nullable: bool,
}

impl Field {
    pub(crate) const fn of<K: super::Kind>(name: &'static str) -> Self {
        use super::Column;
        Self {
            name,
            format: K::Column::FORMAT,
            item_format: K::Column::ITEM_FORMAT,
            nullable: K::NULLABLE,
        }
    }
}

/// Up to [`CHUNK_ROWS`] rows of a table.
#[derive(Debug)]
pub struct Chunk {
    pub(super) rows: usize,
    pub(super) columns: Vec<Array>,
}

impl Chunk {
    pub(crate) fn new(rows: usize, columns: Vec<Array>) -> Arc<Self> {
        Arc::new(Self { rows, columns })
    }
}

/// A finished table; clones share the columns.
#[derive(Clone, Debug)]
pub struct Table {
    /// The table's name.
    pub name: &'static str,
    /// The table's columns.
    pub fields: &'static [Field],
    pub(crate) chunks: Vec<Arc<Chunk>>,
}

impl Table {
    pub(crate) fn new(
        name: &'static str,
        fields: &'static [Field],
        chunks: Vec<Arc<Chunk>>,
    ) -> Self {
        Self {
            name,
            fields,
            chunks,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows).sum()
    }

    /// Memory held by the columns.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.chunks
            .iter()
            .flat_map(|chunk| &chunk.columns)
            .map(Array::bytes)
            .sum()
    }
}

/// Receiver of full chunks of tables while their file is still being read; without one they stay in
/// the builders.
#[derive(Clone, Default)]
pub struct Outlet(Option<Arc<dyn Fn(Table) + Send + Sync>>);

impl Outlet {
    /// Hand every full chunk to `take`, as a table of its own.
    pub fn new(take: impl Fn(Table) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(take)))
    }

    /// Hand `table` on; it is given back where there is no outlet.
    pub(crate) fn offer(&self, table: Table) -> Option<Table> {
        match &self.0 {
            Some(take) => {
                take(table);
                None
            }
            None => Some(table),
        }
    }
}

impl std::fmt::Debug for Outlet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(if self.0.is_some() {
            "Outlet"
        } else {
            "no Outlet"
        })
    }
}

/// The chunks that a builder has filled, each as a table.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    /// True if there has been one, which may have left.
    pub(crate) has_been: bool,
    kept: Vec<Table>,
    outlet: Outlet,
}

impl Sealed {
    pub(crate) fn new(outlet: &Outlet) -> Self {
        Self {
            outlet: outlet.clone(),
            ..Self::default()
        }
    }

    /// Hand the next chunk of the table on, or keep it where there is no outlet. Another builder may have filled it.
    pub(crate) fn add(&mut self, chunk: Table) {
        self.has_been = true;
        self.kept.extend(self.outlet.offer(chunk));
    }

    /// Tables that have been kept.
    pub(crate) fn take(&mut self) -> Vec<Table> {
        std::mem::take(&mut self.kept)
    }
}

/// Declare a table: the struct of one row, and the builder that rows are pushed to.
macro_rules! table {
    (
        $(#[$meta:meta])* $name:literal => $builder:ident, $row:ident { $($column:ident: $kind:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        #[allow(clippy::struct_field_names, reason = "columns are named for readers of the table")]
        pub(crate) struct $row<'a> {
            $(pub $column: <$kind as $crate::arrow::Kind>::Value<'a>,)*
        }

        #[doc = concat!("Builds the table `", $name, "`.")]
        #[derive(Debug, Default)]
        pub(crate) struct $builder {
            rows: usize,
            /// Rows for which the columns have room.
            room: usize,
            pub(crate) sealed: $crate::arrow::Sealed,
            $($column: <$kind as $crate::arrow::Kind>::Column,)*
        }

        impl $builder {
            const FIELDS: &'static [$crate::arrow::Field] =
                &[$($crate::arrow::Field::of::<$kind>(stringify!($column)),)*];

            /// A builder whose full chunks leave through `outlet`.
            pub(crate) fn new(outlet: &$crate::arrow::Outlet) -> Self {
                Self { sealed: $crate::arrow::Sealed::new(outlet), ..Self::default() }
            }

            /// The table without rows.
            pub(crate) fn empty() -> $crate::arrow::Table {
                $crate::arrow::Table::new($name, Self::FIELDS, vec![])
            }

            /// Append one row.
            #[inline]
            pub(crate) fn push(&mut self, row: $row<'_>) {
                if self.rows == self.room {
                    self.grow();
                }
                $(<$kind as $crate::arrow::Kind>::push(&mut self.$column, row.$column);)*
                self.rows += 1;
                if self.rows == $crate::arrow::CHUNK_ROWS {
                    self.seal_chunk();
                }
            }

            /// Make room in few large steps: what is not used of it costs nothing, but every step copies the columns.
            #[cold]
            fn grow(&mut self) {
                self.room = match self.sealed.has_been {
                    // A table that fills one chunk will likely fill another.
                    true => $crate::arrow::CHUNK_ROWS,
                    false => (self.room * 64).clamp(64, $crate::arrow::CHUNK_ROWS),
                };
                $($crate::arrow::Column::reserve(&mut self.$column, self.room - self.rows);)*
            }

            /// True if no row was pushed.
            pub(crate) fn is_empty(&self) -> bool {
                self.rows == 0 && !self.sealed.has_been
            }

            fn seal_chunk(&mut self) {
                use $crate::arrow::Column;
                self.room = 0;
                let columns = vec![$(self.$column.seal_chunk(),)*];
                let chunk = $crate::arrow::Chunk::new(std::mem::take(&mut self.rows), columns);
                self.sealed.add($crate::arrow::Table::new($name, Self::FIELDS, vec![chunk]));
            }

            /// Seal the table; `None` if nothing of it is left.
            pub(crate) fn finish(mut self) -> Option<$crate::arrow::Table> {
                if self.rows > 0 {
                    self.seal_chunk();
                }
                let chunks: Vec<_> = self.sealed.take().into_iter().flat_map(|table| table.chunks).collect();
                (!chunks.is_empty()).then(|| $crate::arrow::Table::new($name, Self::FIELDS, chunks))
            }
        }
    };
}
pub(crate) use table;
