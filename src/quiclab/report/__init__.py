# SPDX-License-Identifier: Apache-2.0
"""From a study directory to an answer: the analysis, the terminal's table, one offline HTML page."""

from quiclab.report.analyse import analyse_study
from quiclab.report.claims_section import claims_lines
from quiclab.report.metric_pages import metrics_of_pages
from quiclab.report.model import StudyAnalysis
from quiclab.report.remarks import remark_lines
from quiclab.report.shares import shares
from quiclab.report.study import read_study
from quiclab.report.terminal import render
from quiclab.report.write import write_report

__all__ = [
    "StudyAnalysis",
    "analyse_study",
    "claims_lines",
    "metrics_of_pages",
    "read_study",
    "remark_lines",
    "render",
    "shares",
    "write_report",
]
