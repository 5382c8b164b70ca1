# SPDX-License-Identifier: Apache-2.0
"""From a study directory to an answer: the analysis, the terminal's table, one offline HTML page."""
