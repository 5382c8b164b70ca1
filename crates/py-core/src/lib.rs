// SPDX-License-Identifier: Apache-2.0
//! The Python module `quiclab._core`: conversions only.

use log_decode::arrow::{ffi::ArrowArrayStream, Outlet, Table};
use log_decode::tables::{Finished, Tables};
use log_decode::{DecodeError, End, Input, Options, Source, FORMATS};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// One table, for anything that takes `__arrow_c_stream__`.
#[pyclass(name = "Table", frozen)]
struct PyTable(Table);

#[pymethods]
impl PyTable {
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// Memory held by the columns.
    #[getter]
    fn size_bytes(&self) -> usize {
        self.0.bytes()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }

    /// The Arrow `PyCapsule` interface; the requested schema is a wish that the interface allows to ignore.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(
            py,
            ArrowArrayStream::new(self.0.clone()),
            c"arrow_array_stream",
        )
    }
}

/// (name, severity, count, advice) of one kind of finding.
type Finding = (String, &'static str, u64, &'static str);

/// (table, column or None for the whole table, reason) of what a log cannot tell.
type Absent = (&'static str, Option<&'static str>, &'static str);

/// Results of a decoder.
#[pyclass(frozen, get_all)]
struct Decoded {
    /// Tables that have rows and did not leave through `take`.
    tables: Vec<Py<PyTable>>,
    stats: Vec<Finding>,
    absent: Vec<Absent>,
    dialect: String,
    clock: &'static str,
    resolution_ns: u64,
    realtime_minus_monotonic_ns: Option<i64>,
}

impl Decoded {
    fn new(py: Python<'_>, source: Source, finished: Finished) -> PyResult<Self> {
        let stats = finished.stats.iter().map(|(name, stat)| {
            (
                name.to_owned(),
                stat.severity.as_str(),
                stat.count,
                stat.advice,
            )
        });
        let absent = finished
            .absent
            .iter()
            .map(|each| (each.table, each.column, each.reason));
        Ok(Self {
            stats: stats.collect(),
            absent: absent.collect(),
            tables: (finished.tables.into_iter())
                .map(|table| Py::new(py, PyTable(table)))
                .collect::<PyResult<_>>()?,
            dialect: source.dialect,
            clock: source.clock.as_str(),
            resolution_ns: source.resolution_ns,
            realtime_minus_monotonic_ns: source.realtime_minus_monotonic_ns,
        })
    }
}

fn to_python(error: DecodeError) -> PyErr {
    match error {
        DecodeError::Io(error) => PyOSError::new_err(error),
        error @ DecodeError::Foreign { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// Decode the file at `path`, whose format the caller knows.
///
/// With `take`, every full chunk of a table goes there while the file is still being read; what it raises ends the
/// decoding and is raised here.
///
/// Rows and their order are the same with any number of `threads`.
#[allow(clippy::too_many_arguments, reason = "Python names them")]
#[pyfunction]
#[pyo3(signature = (format_name, path, vantage=None, realtime_minus_monotonic_ns=None, key_logs=vec![], take=None, threads=1))]
fn decode(
    py: Python<'_>,
    format_name: &str,
    path: PathBuf,
    vantage: Option<&str>,
    realtime_minus_monotonic_ns: Option<i64>,
    key_logs: Vec<PathBuf>,
    take: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<Decoded> {
    let Some((_, decoder)) = FORMATS.iter().find(|(name, _)| *name == format_name) else {
        return Err(PyValueError::new_err(format!(
            "there is no decoder for {format_name}"
        )));
    };
    let vantage = match vantage {
        None => None,
        Some("client") => Some(End::Client),
        Some("server") => Some(End::Server),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "{other} is not an end of a path: give client or server"
            )))
        }
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let options = Options {
        vantage,
        realtime_minus_monotonic_ns,
        key_logs: key_logs.into_iter().map(Input::file).collect(),
        file_name: name.unwrap_or_default(),
        threads,
    };
    let input = Input::file(path);
    let raised = Arc::new(Mutex::new(None));
    let outlet = take.map_or_else(Outlet::default, |take| outlet(take, &input, &raised));
    let outcome = py.detach(|| {
        let mut tables = Tables::new(&outlet);
        let source = decoder(&input, &options, &mut tables);
        for input in options.key_logs.iter().chain([&input]) {
            input.count_trouble(&mut tables.stats);
        }
        (source, tables.finish())
    });
    if let Some(error) = raised.lock().ok().and_then(|mut raised| raised.take()) {
        return Err(error);
    }
    let (source, finished) = outcome;
    Decoded::new(py, source.map_err(to_python)?, finished)
}

/// The first bytes of the file at `path`, unpacked: up to `length`, fewer if there are no more.
#[pyfunction]
fn head(py: Python<'_>, path: PathBuf, length: usize) -> PyResult<Vec<u8>> {
    Ok(py.detach(|| Input::file(path).head(length))?)
}

/// Outline of the JSON document at `path`, or of the first record of several: the names of members, two levels deep,
/// as JSON, those that tell a format first. Empty for what is no JSON.
#[pyfunction]
fn outline(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    Ok(py.detach(|| log_decode::outline(&Input::file(path)))?)
}

/// The end that the `NetLog` at `path` says it is from; None where it does not.
#[pyfunction]
fn netlog_end(py: Python<'_>, path: PathBuf) -> PyResult<Option<&'static str>> {
    let told = py.detach(|| log_decode::netlog::told_end(&Input::file(path)));
    Ok(told.map_err(to_python)?.map(End::as_str))
}

/// Digests of the encrypted datagrams in the capture at `path`.
#[pyfunction]
fn ciphertexts(py: Python<'_>, path: PathBuf) -> PyResult<PyTable> {
    let found = py.detach(|| log_decode::capture::ciphertexts(&Input::file(path)));
    Ok(PyTable(found.map_err(to_python)?))
}

/// Hand chunks to `take`; what it raises, or a signal's handler, is kept in `raised` and stops the reading of `input`.
fn outlet(take: Py<PyAny>, input: &Input, raised: &Arc<Mutex<Option<PyErr>>>) -> Outlet {
    let (stop, raised) = (input.stop(), Arc::clone(raised));
    Outlet::new(move |table| {
        let handed = Python::attach(|py| {
            py.check_signals()?;
            take.call1(py, (PyTable(table),)).map(drop)
        });
        if let (Err(error), Ok(mut raised)) = (handed, raised.lock()) {
            raised.get_or_insert(error);
            stop.store(true, Ordering::Relaxed);
        }
    })
}

/// Every table that decoders fill, without rows.
#[pyfunction]
fn empty_tables(py: Python<'_>) -> PyResult<Vec<Py<PyTable>>> {
    let tables = Tables::empty().into_iter();
    tables.map(|table| Py::new(py, PyTable(table))).collect()
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{ciphertexts, decode, empty_tables, head, netlog_end, outline, Decoded, PyTable};
}
