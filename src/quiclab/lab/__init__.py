# SPDX-License-Identifier: Apache-2.0
"""All that touches the machine: namespaces, links, programs, and one trial run with them."""
