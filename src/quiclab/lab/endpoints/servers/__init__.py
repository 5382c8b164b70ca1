# SPDX-License-Identifier: Apache-2.0
"""Servers, one program a file."""
