# SPDX-License-Identifier: Apache-2.0
"""The way from a study directory to an answer: the analysis, the terminal's table, one offline HTML page."""

from quiclab.compare.analyse import analyse_study
from quiclab.compare.interim_analyses import remember_look
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.papers.claims_section import claims_lines
from quiclab.compare.study import read_study
from quiclab.report.page.metric_pages import metrics_of_pages
from quiclab.report.page.single_file import SingleFile, is_single_file, write_single_file
from quiclab.report.page.write import write_report
from quiclab.report.words.explanation import because_lines
from quiclab.report.words.remarks import remark_lines
from quiclab.report.words.shares import shares
from quiclab.report.words.terminal import render

__all__ = [
    "SingleFile",
    "StudyAnalysis",
    "analyse_study",
    "because_lines",
    "claims_lines",
    "is_single_file",
    "metrics_of_pages",
    "read_study",
    "remark_lines",
    "remember_look",
    "render",
    "shares",
    "write_report",
    "write_single_file",
]
