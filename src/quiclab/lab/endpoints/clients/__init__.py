# SPDX-License-Identifier: Apache-2.0
"""Clients, one program a file: command-line clients, browsers, and clients around QUIC libraries.

A module whose name ends with `_program` is run as a process of its own, in a client's jail; it drives a library or a
browser and writes the client's account.
"""
