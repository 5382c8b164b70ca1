# SPDX-License-Identifier: Apache-2.0
"""Statistics that survive noise: pure functions of arrays that know nothing of HTTP. One concept a file.

Each test names its source, and a test of ours holds it against another implementation: `signed_rank.py`,
`benjamini_hochberg.py`, `sequential_signed_rank.py`, `hodges_lehmann.py` and the others.
"""

from quiclab.compare.statistics.attainable import pairs_needed, smallest_adjusted_p, smallest_p
from quiclab.compare.statistics.benjamini_hochberg import adjusted_p_values
from quiclab.compare.statistics.censoring import censored, differences_in_order, median, paired_differences
from quiclab.compare.statistics.cliffs_delta import Delta, cliffs_delta_within
from quiclab.compare.statistics.confidence_sequence import median_sequence
from quiclab.compare.statistics.correlation import Correlation, Stronger, rank_correlation, stronger
from quiclab.compare.statistics.drift import Drift, drift, far_out
from quiclab.compare.statistics.hodges_lehmann import Shift, hodges_lehmann
from quiclab.compare.statistics.independence import Independence, independence
from quiclab.compare.statistics.mann_whitney import mann_whitney_p
from quiclab.compare.statistics.means import Mean, mean, ratio_of_means
from quiclab.compare.statistics.median_interval import median_interval
from quiclab.compare.statistics.planned_pairs import pairs_by_resampling, pairs_for_noise, pairs_in_noise_of
from quiclab.compare.statistics.proportions import binomial_p, fisher_exact_p, mid_p_interval, share_interval
from quiclab.compare.statistics.quantiles import Quantile, quantile
from quiclab.compare.statistics.ratio import log_ratio, logarithms, per_cent, shift_in_per_cent
from quiclab.compare.statistics.sequential_signed_rank import anytime_p, anytime_shift
from quiclab.compare.statistics.signed_rank import SignedRank, signed_rank
from quiclab.compare.statistics.spread import Spread, paired_spread
from quiclab.compare.statistics.stratified_shift import stratified_shift
from quiclab.compare.statistics.tail_ratio import least_for_tail, tail_difference
from quiclab.compare.statistics.two_samples import shift_of_two, smallest_p_of_two
from quiclab.compare.statistics.variance_components import Components, occasions_differ_p, variance_components
from quiclab.compare.statistics.welch import welch_p
from quiclab.model.interval import Interval

__all__ = [
    "Components",
    "Correlation",
    "Delta",
    "Drift",
    "Independence",
    "Interval",
    "Mean",
    "Quantile",
    "Shift",
    "SignedRank",
    "Spread",
    "Stronger",
    "adjusted_p_values",
    "anytime_p",
    "anytime_shift",
    "binomial_p",
    "censored",
    "cliffs_delta_within",
    "differences_in_order",
    "drift",
    "far_out",
    "fisher_exact_p",
    "hodges_lehmann",
    "independence",
    "least_for_tail",
    "log_ratio",
    "logarithms",
    "mann_whitney_p",
    "mean",
    "median",
    "median_interval",
    "median_sequence",
    "mid_p_interval",
    "occasions_differ_p",
    "paired_differences",
    "paired_spread",
    "pairs_by_resampling",
    "pairs_for_noise",
    "pairs_in_noise_of",
    "pairs_needed",
    "per_cent",
    "quantile",
    "rank_correlation",
    "ratio_of_means",
    "share_interval",
    "shift_in_per_cent",
    "shift_of_two",
    "signed_rank",
    "smallest_adjusted_p",
    "smallest_p",
    "smallest_p_of_two",
    "stratified_shift",
    "stronger",
    "tail_difference",
    "variance_components",
    "welch_p",
]
