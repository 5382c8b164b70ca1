# SPDX-License-Identifier: Apache-2.0
"""Logs of any source as tables (`decoders`), and tables as logs for other tools (`exports`)."""
