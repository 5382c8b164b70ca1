# SPDX-License-Identifier: Apache-2.0
"""Declarations that everything else shares: units, errors, tables, labels of time, and how numbers read.

Nothing here reads a file, starts a program or knows another room. `units.py` and `errors.py` are below everything;
`plan_row.py` identifies a trial; `activity.py` and `cause.py` are the labels of time and the unions to which they
fall back, `metric_scope.py` says of what an account is; `number_text.py` and `text_table.py` are the words of
numbers, `name_lines.py` breaks long names between their words, and `terminal_escape.py` keeps a terminal harmless.
"""
