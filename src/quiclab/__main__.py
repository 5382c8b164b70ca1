# SPDX-License-Identifier: Apache-2.0
"""Entry point of `python -m quiclab`, which is `quiclab` where no script of that name is installed."""

import sys

from quiclab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
