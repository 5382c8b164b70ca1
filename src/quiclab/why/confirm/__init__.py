# SPDX-License-Identifier: Apache-2.0
"""A cause put to the test: what is declared before a run without it, and what that run showed.

Modules are imported one by one: a process that is to enter the sandbox may know a declaration, and must not load what
reads tables.
"""
