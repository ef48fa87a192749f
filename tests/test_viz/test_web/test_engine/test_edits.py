"""The code of edits, which stands in addresses, read and written as in Python."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from model.interventions.edits import Cell, Cut, Edits, Force, Head
from model.interventions.patches import HeadPatch, StreamPatch
from tests.support.javascript import node

READ = """
import { readEdits, writeEdits } from "%s";
const answer = code => {
  try {
    const edits = readEdits(code);
    return { edits, code: writeEdits(edits) };
  } catch ({ message }) {
    return { message };
  }
};
process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]).map(answer)));
"""
MANY = Edits(
    off=(Head("cross", 0, 3), Head("encoder_self", 2, 10)),
    uniform=(Head("decoder_self", 1, 0),),
    forced=(
        Force(4, 2, 0.8),
        Force(1, 0, 0.3333, ((0, 1), (12, 10)), "encoder_self"),
        Force(3, 3, 1, (), "decoder_self"),
    ),
    cells=(Cell("cross", 1, 100, True), Cell("decoder_self", 3, 0, False)),
    patched=(
        HeadPatch("cross", 2, 2),
        HeadPatch("encoder_self", 1, 12, "weights"),
        HeadPatch("decoder_self", 18, 6, "values"),
        StreamPatch("encoder", 0, 3),
        StreamPatch("decoder", 2, 1000),
    ),
)
WRONG = [
    *("v2_oc0-0", "v1_oc0", "v1__oc0-0", "v1_OC0-0", "oc0-0", "v1_oc0-٣", "x" * 9000),
    *("v1_f0-0-2", "v1_f0-0-1.5", "v1_f0-0-1.00001", "v1_fd1-2-1", "v1_oc0-0_uc0-0", "v1_ac1-2_bc1-2"),
    *("v1_f1-2-1_f1-3-1", "v1_f1-2-1h0-1_f1-3-1", "v1_fe1-2-1h0-1h1-2_fe1-3-1h1-2"),
    *("v1_pxc2-2", "v1_pc2", "v1_sc0-0", "v1_se1-10000", "v1_pc2-2_pwc2-2", "v1_oe2-2_pve2-2", "v1_ud0-1_pd0-1"),
]


def read(codes: list[str]) -> list[dict]:
    module = Path("viz/web/engine/analysis/edit_code.js").resolve().as_uri()
    finished = node("--input-type=module", "--eval", READ % module, json.dumps(codes))
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_the_code_of_edits_is_that_of_python() -> None:
    parts = [Edits(**{name: value}) for name, value in vars(MANY).items() if name != "donor"]
    every = [Edits(), MANY, *parts]
    for edits, answer in zip(every, read([edits.code for edits in every]), strict=True):
        assert answer["code"] == edits.code
        values = json.loads(json.dumps(dataclasses.asdict(edits)))
        # The engine cuts no paths, and what patches are taken from is not part of the code.
        assert (values.pop("cut"), values.pop("donor")) == ([], None)
        assert answer["edits"] == values


def test_cuts_of_paths_are_for_a_server() -> None:
    code = Edits(off=MANY.off, cut=(Cut("decoder_self", 18, 6, "keys", "head 16.0"),)).code
    assert read([code]) == [{"message": "pages without a server cannot cut a path: open the link in the app"}]


@pytest.mark.parametrize("code", WRONG)
def test_what_python_refuses_is_refused_in_the_same_words(code: str) -> None:
    with pytest.raises(ValueError) as refused:
        Edits.from_code(code)
    assert read([code]) == [{"message": str(refused.value)}]
