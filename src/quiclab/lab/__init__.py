# SPDX-License-Identifier: Apache-2.0
"""All that touches the machine: namespaces, links, programs, and one trial run with them.

It writes raw files and knows nothing about tables. `testbed` has the operating system's resources, `workloads` makes
what is transferred, `endpoints` knows the programs, `stacks` installs them, and `runner` runs a trial with all of
these.
"""
