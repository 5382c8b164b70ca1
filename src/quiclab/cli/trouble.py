# SPDX-License-Identifier: Apache-2.0
"""Printing of errors: one place for every verb."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable

from quiclab.cli.own_name import as_typed
from quiclab.model.errors import DecodeError, ExitCode, HostError, QuiclabError

_MOST_PROBLEMS = 40
"""Offenders that are printed at once: where these are mended, the next ones are seen."""
_HINTS = {
    errno.ENOENT: "nothing can be made there, or it was moved or removed meanwhile; the same command continues",
    errno.ENOSPC: "free some room and run the same command again",
    errno.EMFILE: "allow more open files: ulimit -n 1024",
    errno.ENFILE: "this machine has too many files open: end something else",
    errno.EAGAIN: "allow more processes: ulimit -u, or the limit of the container",
    errno.ENOMEM: "this machine has too little memory left: end something else",
    errno.EACCES: "make it readable and writable for this user",
    errno.EIO: "look whether the disk is well",
}


def tell(error: QuiclabError) -> None:
    """Print an error: what happened, every offender, what to do."""
    print(f"quiclab: {error.message}", file=sys.stderr)
    for problem in error.problems[:_MOST_PROBLEMS]:
        print(f"  {as_typed(problem)}", file=sys.stderr)
    if len(error.problems) > _MOST_PROBLEMS:
        print(f"  … and {len(error.problems) - _MOST_PROBLEMS} more", file=sys.stderr)
    if error.hint:
        print(f"  hint: {as_typed(error.hint)}", file=sys.stderr)


def code_of(work: Callable[[], int], interrupted: str = "interrupted") -> int:
    """The exit code of `work`, with all that goes wrong in it told; only a mistake of quiclab's own has a traceback."""
    try:
        return int(work())
    except QuiclabError as error:
        tell(error)
        return error.exit_code
    except KeyboardInterrupt:
        interrupted = as_typed(interrupted)
        print(f"\n{interrupted}" if sys.stderr.isatty() else interrupted, file=sys.stderr)
        return ExitCode.INTERRUPTED
    except OSError as error:
        tell(refused(error))
        return ExitCode.HOST
    except RecursionError:
        tell(
            DecodeError("a file is nested deeper than any that quiclab writes", "look into what was added to the study")
        )
        return ExitCode.DECODE
    except MemoryError:
        tell(HostError("there is not enough memory", "end something else, or allow more: ulimit -v unlimited"))
        return ExitCode.HOST
    except Exception as error:
        if _from_an_interruption(error):
            print(as_typed(interrupted), file=sys.stderr)
            return ExitCode.INTERRUPTED
        traceback.print_exc()
        print("quiclab: this is a bug in quiclab: please report it with the lines above", file=sys.stderr)
        return ExitCode.CRASH


def _from_an_interruption(error: BaseException | None) -> bool:
    """True if an error came of a KeyboardInterrupt, as where Ctrl-C meets a compiled module that is being imported."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def refused(error: OSError) -> HostError:
    """Error in a sentence for what the operating system refused."""
    from quiclab.store.disk import larger_files

    place = f": {error.filename}" if error.filename is not None else ""
    return HostError(
        f"the operating system refuses: {error.strerror or error}{place}",
        larger_files()
        if error.errno == errno.EFBIG
        else _HINTS.get(
            error.errno or 0, "if a file or folder is in the way, move it away; then run the same command again"
        ),
    )
