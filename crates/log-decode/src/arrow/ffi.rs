// SPDX-License-Identifier: Apache-2.0
//! The Arrow C data and C stream interfaces: <https://arrow.apache.org/docs/format/CDataInterface.html>.
//!
//! Exported arrays point into the table's own buffers; each keeps its chunk alive by a reference count until the
//! consumer calls `release`.

use super::array::Buffer;
use super::{Array, Chunk, Field, Table};
use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::{null, null_mut};
use std::sync::Arc;

const NULLABLE: i64 = 2;

/// The C data interface's `struct ArrowSchema`.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// The C data interface's `struct ArrowArray`.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// The C stream interface's `struct ArrowArrayStream`.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: the pointers of a stream lead only to `StreamState`, which is owned by the stream and is itself `Send`.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a stream with a release callback has not been released or moved out of.
            unsafe { release(self) }
        }
    }
}

struct StreamState {
    table: Table,
    next_chunk: usize,
}

impl ArrowArrayStream {
    /// A stream over all chunks of `table`.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(stream_release),
            private_data: Box::into_raw(Box::new(StreamState {
                table,
                next_chunk: 0,
            }))
            .cast(),
        }
    }
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer passes an unreleased stream, whose private data is a `StreamState`, and a writable `out`.
    unsafe {
        let state = &*(*stream).private_data.cast::<StreamState>();
        out.write(struct_schema(state.table.fields));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`; the interface forbids concurrent calls on one stream.
    unsafe {
        let state = &mut *(*stream).private_data.cast::<StreamState>();
        out.write(match state.table.chunks.get(state.next_chunk) {
            Some(chunk) => struct_array(chunk),
            None => END_OF_STREAM,
        });
        state.next_chunk += 1;
    }
    0
}

unsafe extern "C" fn stream_error(_stream: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn stream_release(stream: *mut ArrowArrayStream) {
    // SAFETY: called once, as the release callback is removed here; the private data came from `Box::into_raw`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamState>()));
        (*stream).release = None;
    }
}

/// Memory that an exported schema owns until it is released.
struct SchemaState {
    _texts: [CString; 2],
    children: Vec<*mut ArrowSchema>,
}

fn schema(name: &str, format: &str, flags: i64, children: Vec<ArrowSchema>) -> ArrowSchema {
    // Names and formats are literals of this crate without NUL bytes.
    let texts = [
        CString::new(format).unwrap_or_default(),
        CString::new(name).unwrap_or_default(),
    ];
    let [format, name] = [texts[0].as_ptr(), texts[1].as_ptr()];
    let children = children
        .into_iter()
        .map(|child| Box::into_raw(Box::new(child)))
        .collect();
    let mut state = Box::new(SchemaState {
        _texts: texts,
        children,
    });
    ArrowSchema {
        format,
        name,
        metadata: null(),
        flags,
        n_children: length(state.children.len()),
        children: state.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(schema_release),
        private_data: Box::into_raw(state).cast(),
    }
}

fn struct_schema(fields: &[Field]) -> ArrowSchema {
    let children = fields.iter().map(|field| {
        let item = field
            .item_format
            .map(|format| schema("item", format, 0, vec![]));
        schema(
            field.name,
            field.format,
            if field.nullable { NULLABLE } else { 0 },
            item.into_iter().collect(),
        )
    });
    schema("", "+s", 0, children.collect())
}

unsafe extern "C" fn schema_release(released: *mut ArrowSchema) {
    // SAFETY: called once on a schema made by `schema`; each child was boxed there and is freed here, after its own
    // release unless the consumer moved it out (then its callback is null).
    unsafe {
        let state = Box::from_raw((*released).private_data.cast::<SchemaState>());
        for &child in &state.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&raw mut *child);
            }
        }
        (*released).release = None;
    }
}

/// Memory that an exported array owns until it is released.
struct ArrayState {
    _chunk: Arc<Chunk>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

const END_OF_STREAM: ArrowArray = ArrowArray {
    length: 0,
    null_count: 0,
    offset: 0,
    n_buffers: 0,
    n_children: 0,
    buffers: null_mut(),
    children: null_mut(),
    dictionary: null_mut(),
    release: None,
    private_data: null_mut(),
};

fn export(
    chunk: &Arc<Chunk>,
    len: usize,
    nulls: usize,
    buffers: Vec<*const c_void>,
    children: &[Array],
) -> ArrowArray {
    let children = children
        .iter()
        .map(|child| Box::into_raw(Box::new(array(chunk, child))))
        .collect();
    let mut state = Box::new(ArrayState {
        _chunk: Arc::clone(chunk),
        buffers,
        children,
    });
    ArrowArray {
        length: length(len),
        null_count: length(nulls),
        n_buffers: length(state.buffers.len()),
        n_children: length(state.children.len()),
        buffers: state.buffers.as_mut_ptr(),
        children: state.children.as_mut_ptr(),
        release: Some(array_release),
        private_data: Box::into_raw(state).cast(),
        ..END_OF_STREAM
    }
}

fn array(chunk: &Arc<Chunk>, column: &Array) -> ArrowArray {
    let buffers = column
        .buffers
        .iter()
        .map(|buffer| buffer.as_ref().map_or(null(), Buffer::as_ptr));
    export(
        chunk,
        column.len,
        column.null_count,
        buffers.collect(),
        &column.children,
    )
}

fn struct_array(chunk: &Arc<Chunk>) -> ArrowArray {
    export(chunk, chunk.rows, 0, vec![null()], &chunk.columns)
}

unsafe extern "C" fn array_release(released: *mut ArrowArray) {
    // SAFETY: as in `schema_release`.
    unsafe {
        let state = Box::from_raw((*released).private_data.cast::<ArrayState>());
        for &child in &state.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&raw mut *child);
            }
        }
        (*released).release = None;
    }
}

fn length(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
