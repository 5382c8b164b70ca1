# SPDX-License-Identifier: Apache-2.0
"""Declarations that everything else shares: units, errors, tables, labels of time, and how numbers read.

Nothing here reads a file, starts a program or knows another room.
"""
