# SPDX-License-Identifier: Apache-2.0
"""Installs real clients, servers and proxies into a folder of the project's own; nothing of the machine is replaced."""
