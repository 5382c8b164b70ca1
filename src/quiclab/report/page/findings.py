# SPDX-License-Identifier: Apache-2.0
"""What stands beside the answer: each table from a file of its own, in the order of the page."""

from __future__ import annotations

from quiclab.compare.factor_effects import factor_tables
from quiclab.compare.false_alarms import false_alarm_table
from quiclab.compare.least_time import least_time_table
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.sequential import sequential_table
from quiclab.compare.study import Study
from quiclab.model.text_table import TextTable
from quiclab.report.words.remarks import remark_tables


def findings(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the findings that have something to say."""
    return [
        *sequential_table(study, analysis),
        *remark_tables(study, analysis),
        *factor_tables(study, analysis),
        *least_time_table(study, analysis),
        false_alarm_table(analysis),
    ]
