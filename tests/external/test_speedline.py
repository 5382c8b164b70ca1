# SPDX-License-Identifier: Apache-2.0
"""Our Speed Index beside that of speedline, with which Lighthouse computes its own."""

from __future__ import annotations

import base64
import io
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from quiclab.evidence.metrics._visual import speed_index, visual_progress
from quiclab.project import stacks_folder

SPEEDLINE = stacks_folder() / "speedline" / "node_modules" / "speedline-core"
_SCRIPT = """
require(process.argv[1])(process.argv[2], {timeOrigin: Number(process.argv[3]), include: 'speedIndex'})
  .then((found) => console.log(JSON.stringify({index: found.speedIndex, progress: found.frames.map((f) => [
    f.getTimeStamp(), f.getProgress()])})));
"""


def _frame(done: int, source: random.Random) -> bytes:
    """A page of twenty boxes, of which some have come."""
    image = Image.new("RGB", (400, 300), "white")
    for number in range(done):
        colour = tuple(source.randrange(0, 240) for _ in range(3))
        image.paste(colour, (number % 5 * 80 + 5, number // 5 * 75 + 5, number % 5 * 80 + 75, number // 5 * 75 + 70))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.skipif(not SPEEDLINE.exists(), reason="speedline is not installed: tools/speedline.sh")
@pytest.mark.parametrize("seed", range(4))
def test_speed_index(tmp_path: Path, seed: int) -> None:
    """Within what speedline loses by cutting progress down to whole per cent."""
    source = random.Random(seed)
    moments = sorted(source.sample(range(50, 3000), 8))
    shots = [(0.0, _frame(0, random.Random(seed)))]
    shots += [(float(at), _frame(2 + 2 * number, random.Random(seed))) for number, at in enumerate(moments)]
    zero_us = 5_000_000
    events = [
        {
            "name": "Screenshot",
            "cat": "disabled-by-default-devtools.screenshot",
            "ph": "O",
            "pid": 1,
            "tid": 1,
            "ts": zero_us + round(at * 1000),
            "args": {"snapshot": base64.b64encode(image).decode()},
        }
        for at, image in shots
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    told = subprocess.run(
        ["node", "-e", _SCRIPT, str(SPEEDLINE), str(trace), str(zero_us)], capture_output=True, text=True, check=True
    )
    theirs = json.loads(told.stdout)
    seen = visual_progress(shots)
    assert [each.progress for each in seen] == pytest.approx(
        [done / 100 for _, done in theirs["progress"]][-9:], abs=0.011
    )
    assert speed_index(seen) == pytest.approx(theirs["index"], rel=0.011)
