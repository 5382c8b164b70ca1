// SPDX-License-Identifier: Apache-2.0
//! The Python module `quiclab._core`: conversions only.

use log_decode::arrow::{ffi::ArrowArrayStream, Table};
use log_decode::pcapng::End;
use log_decode::{DecodeError, Stats};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

const READ_BUFFER_BYTES: usize = 1 << 18;

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

/// What a decoder gives.
#[pyclass(frozen, get_all)]
struct Decoded {
    tables: Vec<Py<PyTable>>,
    stats: Vec<Finding>,
    /// `CLOCK_REALTIME − CLOCK_MONOTONIC`, where the format records it.
    realtime_minus_monotonic_ns: Option<i64>,
}

impl Decoded {
    fn new(
        py: Python<'_>,
        tables: Vec<Table>,
        stats: &Stats,
        realtime_minus_monotonic_ns: Option<i64>,
    ) -> PyResult<Self> {
        Ok(Self {
            tables: tables
                .into_iter()
                .map(|table| Py::new(py, PyTable(table)))
                .collect::<PyResult<_>>()?,
            stats: stats
                .iter()
                .map(|(name, stat)| {
                    (
                        name.to_owned(),
                        stat.severity.as_str(),
                        stat.count,
                        stat.advice,
                    )
                })
                .collect(),
            realtime_minus_monotonic_ns,
        })
    }
}

fn open(path: PathBuf) -> Result<BufReader<File>, DecodeError> {
    Ok(BufReader::with_capacity(
        READ_BUFFER_BYTES,
        File::open(path)?,
    ))
}

fn to_python(error: DecodeError) -> PyErr {
    match error {
        DecodeError::Io(error) => PyOSError::new_err(error),
        error @ DecodeError::Foreign { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// Decode the link's packet log at `path`.
#[pyfunction]
fn decode_packet_log(py: Python<'_>, path: PathBuf) -> PyResult<Decoded> {
    let log = py
        .detach(|| log_decode::packet_log::decode(open(path)?))
        .map_err(to_python)?;
    Decoded::new(
        py,
        vec![log.table],
        &log.stats,
        Some(log.realtime_minus_monotonic_ns),
    )
}

/// Decode the capture at `path`, taken at `end` ("client", "server" or unknown).
#[pyfunction]
#[pyo3(signature = (path, end=None))]
fn decode_pcapng(py: Python<'_>, path: PathBuf, end: Option<&str>) -> PyResult<Decoded> {
    let end = match end {
        None => None,
        Some("client") => Some(End::Client),
        Some("server") => Some(End::Server),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "{other} is no end of a path: client or server"
            )))
        }
    };
    let capture = py
        .detach(|| log_decode::pcapng::decode(open(path)?, end))
        .map_err(to_python)?;
    Decoded::new(py, vec![capture.table], &capture.stats, None)
}

/// Decode the qlog at `path`; the offset maps `CLOCK_REALTIME` to `CLOCK_MONOTONIC`.
#[pyfunction]
#[pyo3(signature = (path, realtime_minus_monotonic_ns=None))]
fn decode_qlog(
    py: Python<'_>,
    path: PathBuf,
    realtime_minus_monotonic_ns: Option<i64>,
) -> PyResult<Decoded> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let qlog = py
        .detach(|| log_decode::qlog::decode(open(path)?, realtime_minus_monotonic_ns, &name))
        .map_err(to_python)?;
    Decoded::new(py, qlog.tables, &qlog.stats, None)
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{decode_packet_log, decode_pcapng, decode_qlog, Decoded, PyTable};
}
