# SPDX-License-Identifier: Apache-2.0
"""What stands beside the answer: each table from a file of its own, in the order of the page."""

from __future__ import annotations

from quiclab.analysis.factor_effects import factor_tables
from quiclab.analysis.false_alarms import false_alarm_table
from quiclab.analysis.least_time import least_time_table
from quiclab.analysis.model import StudyAnalysis
from quiclab.analysis.sequential import sequential_table
from quiclab.analysis.study import Study
from quiclab.report.words.remarks import remark_tables
from quiclab.text_table import TextTable


def findings(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the findings that have something to say."""
    return [
        *sequential_table(study, analysis),
        *remark_tables(study, analysis),
        *factor_tables(study, analysis),
        *least_time_table(study, analysis),
        false_alarm_table(analysis),
    ]
