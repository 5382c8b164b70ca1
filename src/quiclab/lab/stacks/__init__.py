# SPDX-License-Identifier: Apache-2.0
"""Install real clients, servers and proxies into a folder of the project's own; nothing on the machine is replaced."""
