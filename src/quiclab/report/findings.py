# SPDX-License-Identifier: Apache-2.0
"""What stands beside the answer: each table from a file of its own, in the order of the page."""

from __future__ import annotations

from quiclab.report.model import StudyAnalysis
from quiclab.report.remarks import remark_tables
from quiclab.report.study import Study
from quiclab.report.text_table import TextTable


def findings(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Only those that have something to say."""
    return [*remark_tables(study, analysis)]
