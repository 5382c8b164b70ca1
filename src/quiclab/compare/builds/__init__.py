# SPDX-License-Identifier: Apache-2.0
"""Two studies of the same programs in two builds: what changed between them, and whether a gate lets it pass.

`setting.py` says whether they can be compared, `two_studies.py` compares them, `gate.py` is the gate. Of one study
that has both builds as arms it is `interleaved.py`.
"""
