# SPDX-License-Identifier: Apache-2.0
"""quiclab: is HTTP/3 on QUIC faster or slower than HTTP/2 on TCP over this network, by how much, and why?"""

__version__ = "0.1.0"
