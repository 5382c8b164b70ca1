# SPDX-License-Identifier: Apache-2.0
"""A cause put to the test: what is declared before a run without it, and what that run showed.

`declaration.py` is what was declared and `judge.py` the verdict; both are files (`records.py`) in STUDY/confirm/NAME,
a study of its own. Several causes at once: `joint_declaration.py` and `factorial.py`.

Modules are imported one by one: a process that is to enter the sandbox may know a declaration, and must not load what
reads tables.
"""
