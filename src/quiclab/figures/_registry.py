# SPDX-License-Identifier: Apache-2.0
"""All figures, in the order of the report."""

from quiclab.figures._api import Figure
from quiclab.figures.bytes_acknowledged import BytesAcknowledged
from quiclab.figures.difference_map import DifferenceMap
from quiclab.figures.distribution import Distribution

FIGURES: tuple[Figure, ...] = (DifferenceMap(), Distribution(), BytesAcknowledged())
