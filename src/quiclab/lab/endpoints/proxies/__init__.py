# SPDX-License-Identifier: Apache-2.0
"""Proxies, one program a file."""
