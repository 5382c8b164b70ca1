# SPDX-License-Identifier: Apache-2.0
"""Arms that cannot be measured: their client is one of the user's own and leaves nothing to measure by."""

from __future__ import annotations

from collections.abc import Iterator

from quiclab.model.study import Study

_GUIDE = "docs/how-to/own-programs.md"


def unmeasured(study: Study) -> list[str]:
    """Say which arms enter no comparison, and what their client has to leave."""
    return list(_warnings(study))


def _warnings(study: Study) -> Iterator[str]:
    for arm in study.measured_arms:
        if not arm.client.argv:
            continue
        words = [*arm.client.argv, *(value for _, value in arm.client.env)]
        keys, account = (any(each in word for word in words) for each in ("{keylog}", "{output}"))
        if account or (keys and study.captures == "whole"):
            continue
        begin = f"Arm {arm.name} cannot be measured, and its trials enter no comparison:"
        if keys:
            yield (
                f'{begin} captures keep only headers, which no key opens. Write captures = "whole" in [study], or have '
                f"the client write an account to {{output}} ({_GUIDE})."
            )
        else:
            yield (
                f"{begin} its client leaves neither TLS keys nor an account. Add "
                f'env = {{ SSLKEYLOGFILE = "{{keylog}}" }} to it, or have it write an account to {{output}} ({_GUIDE}).'
            )
