# SPDX-License-Identifier: Apache-2.0
"""`aqm`: how the queue before the bottleneck is managed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.model.study import Aqm, CoDel, DualPi2, FqCoDel, Pie, Step
from quiclab.model.units import Duration
from quiclab.spec import json_form, kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, WrongValueError, closest, form_of, read_keys, show

_MODELS: Mapping[str, type[Aqm]] = {"codel": CoDel, "fq_codel": FqCoDel, "pie": Pie, "dualpi2": DualPi2, "step": Step}
LEAST_UPDATE = Duration(10**6)
"""Shortest time between two calculations of a probability."""
AQM_MODELS: Mapping[str, tuple[type[Aqm], Mapping[str, Kind[Any]]]] = {
    name: (cls, kinds.keys_of(cls)) for name, cls in _MODELS.items()
}


def _read_aqm(node: Node) -> Aqm:
    if isinstance(node.value, str):
        return _model(node.value, "")[0]()
    if not isinstance(node.value, dict):
        raise WrongValueError(f"{show(node.value)}; write {AQM.wanted}")
    cls, keys = _model(str(node.value.get("model", "")), 'the table needs a "model"; ')
    before = node.source.reports
    values = read_keys(node, {"model": kinds.TITLE, **keys})
    if node.source.reports > before:
        raise ReportedError
    del values["model"]
    aqm = cls(**values)
    if isinstance(aqm, CoDel | FqCoDel) and aqm.target >= aqm.interval:
        raise WrongValueError(f"a target of {aqm.target} is not below the interval of {aqm.interval}")
    if isinstance(aqm, Pie | DualPi2) and aqm.update.ns < LEAST_UPDATE.ns:
        raise WrongValueError(f"an update every {aqm.update} is too often; write {LEAST_UPDATE} or more")
    return aqm


def _model(name: str, start: str) -> tuple[type[Aqm], Mapping[str, Kind[Any]]]:
    if name not in AQM_MODELS:
        start = start or f'"{name}" is not known here; '
        raise WrongValueError(f"{start}{closest(name, list(AQM_MODELS), 'models')}")
    return AQM_MODELS[name]


AQM: Kind[Aqm] = Kind(
    '"codel", "fq_codel", "pie", "dualpi2", "step", or a table such as {model = "codel", ecn = true}',
    _read_aqm,
    json_form.either(
        json_form.one_of(list(AQM_MODELS)),
        *(
            form_of({"model": kinds.choice((name,)), **keys}, cls, ("model",))
            for name, (cls, keys) in AQM_MODELS.items()
        ),
    ),
)
