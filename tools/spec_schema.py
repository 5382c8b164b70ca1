# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of a spec, from the declarations of its keys; `generate_reference.py` writes it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from field_docs import field_docs

from quiclab.model import address_change, network, study
from quiclab.model.page import Page, Resources, ThirdParties
from quiclab.spec.json_form import Form
from quiclab.spec.read import spec_form

_ALSO: Mapping[type[Any], tuple[type[Any], ...]] = {
    study.Change: (study.Direction,),
    study.Program: (study.Knobs,),
    study.Path: (study.Direction,),
    study.Link: (study.Direction,),
}
"""Table → others whose keys it has too."""
_OUTSIDE = (Page, Resources, ThirdParties, address_change.AddressChange)


def schema_text() -> str:
    """The schema as the file has it."""
    definitions: dict[str, Form] = {}
    form = _gathered(spec_form(), definitions)
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Spec of a quiclab study",
        **form,
        "definitions": dict(sorted(definitions.items())),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _gathered(form: Any, definitions: dict[str, Form]) -> Any:
    """A form in which each table of a dataclass refers to its definition, which has the words of its reference."""
    if isinstance(form, list):
        return [_gathered(each, definitions) for each in form]
    if not isinstance(form, dict):
        return form
    if "properties" not in form:
        return {key: _gathered(value, definitions) for key, value in form.items()}
    docs = _docs(str(form.get("title", "")))
    keys = {key: _described(_gathered(each, definitions), docs.get(key)) for key, each in form["properties"].items()}
    whole = {**form, "properties": keys}
    if "title" not in form:
        return whole
    number, name = 1, form["title"]
    while definitions.setdefault(name, whole) != whole:
        number += 1
        name = f"{form['title']}{number}"
    return {"$ref": f"#/definitions/{name}"}


def _described(form: Form, doc: str | None) -> Form:
    wanted = form.get("description")
    texts = [doc, f"Value: {wanted}." if wanted else None]
    described = {"description": " ".join(filter(None, texts))} if any(texts) else {}
    # What stands beside a reference is ignored by draft 7.
    own = {"allOf": [{"$ref": form["$ref"]}]} if "$ref" in form else form
    return {**own, **described}


def _docs(title: str) -> dict[str, str]:
    cls = next((each for each in _OUTSIDE if each.__name__ == title), getattr(study, title, None))
    cls = cls or getattr(network, title, None)
    if not inspect.isclass(cls):
        return {}
    return {key: text for each in (*_ALSO.get(cls, ()), cls) for key, text in field_docs(each).items()}
