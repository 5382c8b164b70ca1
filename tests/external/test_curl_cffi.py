# SPDX-License-Identifier: Apache-2.0
"""What we believe of libcurl in the wheel `curl_cffi`, held against the real program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_study import main_only, quiclab, trials, write_spec

import quiclab as package

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.matrix
def test_5_mb_twenty_times_per_protocol_without_a_rate_limit(tmp_path: Path) -> None:
    """With our two options HTTP/2 never stalls at 1 MiB, as this build of libcurl does with its own settings."""
    spec = write_spec(tmp_path, blocks=20, size="5 MB", trial_limit="10 s")
    text = spec.read_text().replace('rate = "20 Mbit/s"\n', "")
    spec.write_text(text.replace("blocks = 20\n", 'blocks = 20\ncaptures = "headers"\n', 1))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    main = trials(tmp_path / "study")
    assert len(main) == 40
    assert {trial["status"] for trial in main} == {"verified"}


_OVER_THE_LIMIT = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
program = module_from_spec(spec_from_file_location("program", sys.argv[1]))
program.__spec__.loader.exec_module(program)
Curl, CurlError, CurlOpt = program.Curl, program.CurlError, program.CurlOpt
foreign = {"most_bytes": 100_000, "user_agent": "", "insecure": False}
job = dict(foreign=foreign, resolve="", ca="", h2_settings="", h2_window_update=1, compression=False, uploads="")
class Local(Curl):
    def setopt(self, option, value):
        # A length that the other end does not tell beforehand, as with chunks.
        return None if option == CurlOpt.MAXFILESIZE_LARGE else super().setopt(option, value)
program.Curl = Local
transfer = program.Transfer(job, "file://" + sys.argv[2], "h2")
try:
    transfer.curl.perform()
except CurlError as error:
    print(error.code, transfer._bytes < 200_000)
"""


def test_a_body_of_unknown_length_ends_at_its_limit(tmp_path: Path) -> None:
    """The number that the program returns then makes libcurl stop (CURLE_WRITE_ERROR), whatever else would come."""
    (tmp_path / "body").write_bytes(bytes(10_000_000))
    program = Path(package.__file__).parent / "lab" / "endpoints" / "clients" / "_curl_cffi_program.py"
    done = subprocess.run(
        [sys.executable, "-c", _OVER_THE_LIMIT, str(program), str(tmp_path / "body")], capture_output=True, text=True
    )
    assert done.stdout.split() == ["23", "True"], done.stderr
