# SPDX-License-Identifier: Apache-2.0
"""The gate's answer as files for continuous integration: JUnit XML, and a summary in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from quiclab.compare.builds.gate import Judgement, Verdict
from quiclab.compare.builds.two_studies import StudiesCompared
from quiclab.report.words.change_text import HEADINGS, gate_lines, legend, numbers, opening, remarks

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, escaped or not (section 2.2)."""
_MARKUP = re.compile(r"^[-+#]|[\\`*_{}\[\]|~$]")


def junit_xml(found: StudiesCompared, judgements: Sequence[Judgement]) -> str:
    """A test suite for each bound, a test case for each arm in each cell.

    What could not be judged is an error, since a suite with skipped cases would count as green.
    """
    root = Xml.Element("testsuites", _counts(judgements))
    for bound in dict.fromkeys(each.bound for each in judgements):
        mine = [each for each in judgements if each.bound == bound]
        suite = Xml.SubElement(root, "testsuite", {"name": _xml(bound.text)} | _counts(mine))
        properties = Xml.SubElement(suite, "properties")
        for number, line in enumerate(opening(found)):
            Xml.SubElement(properties, "property", {"name": f"compared.{number}", "value": _xml(line)})
        for each in mine:
            change = each.change
            case = Xml.SubElement(suite, "testcase", {
                "classname": _xml(f"{change.metric.name}.{change.arm}"),
                "name": _xml(f"{change.arm}: {found.cell_name(change)}"),
            })  # fmt: skip
            if each.verdict is Verdict.FAILED:
                Xml.SubElement(case, "failure", {"message": _xml(each.reason), "type": "beyond the bound"})
            elif each.verdict is Verdict.NOT_JUDGED:
                Xml.SubElement(case, "error", {"message": _xml(each.reason), "type": "not judged"})
            Xml.SubElement(case, "system-out").text = _xml(each.reason)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _counts(judgements: Sequence[Judgement]) -> dict[str, str]:
    verdicts = [each.verdict for each in judgements]
    return {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count(Verdict.FAILED)),
        "errors": str(verdicts.count(Verdict.NOT_JUDGED)),
        "skipped": "0",
    }


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def markdown(found: StudiesCompared, judgements: Sequence[Judgement]) -> str:
    """Return what the terminal shows as Markdown: the gate first, then a table for each metric."""
    lines = ["## quiclab compare", ""]
    lines += _items(gate_lines(found, judgements))
    lines += _items(opening(found))
    for metric in found.metrics:
        lines += [f"### {_md(metric.title)}", "", f"| arm | cell | {' | '.join(HEADINGS)} |"]
        lines.append("|---|---|" + "---:|" * len(HEADINGS))
        for each in (c for c in found.changes if c.metric == metric):
            row = (each.arm, found.cell_name(each), *numbers(each, judgements))
            lines.append(f"| {' | '.join(map(_md, row))} |")
        lines.append("")
    lines += [_md(legend(found)), ""]
    return "\n".join((*lines, *_items(remarks(found)))).rstrip() + "\n"


def _items(lines: Sequence[str]) -> list[str]:
    """A list; what was set in below a line stays so."""
    return [*(f"{'  ' if line.startswith('  ') else ''}- {_md(line.strip())}" for line in lines), ""] if lines else []


def _md(text: str) -> str:
    """Text that Markdown shows as it is, in a table too: no HTML, no markup, one line."""
    plain = _xml(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(r"\\\g<0>", " ".join(plain.split()))
