"""Other methods of test-time adaptation, as baselines for an elastic head: one file each, with its search ranges.

Each follows one stream with a frozen network, frame after frame, at batch size one and without labels. All of them are
`StreamClassifier`s: `step` answers a frame and moves the model, `track` answers a recorded stream, `reset` returns to
rest, and `relax` lets time pass. Most read the logits of the network, or the features that its last layer receives;
those in `networks` read frames, and adapt the inside of a PyTorch network. `all_rivals()` lists them. To add one, add a
file that defines `RIVALS`.
"""

from springback.heads.head_classifier import HeadClassifier
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import Rival, all_rivals, logit_spread

__all__ = ["HeadClassifier", "Rival", "StreamClassifier", "all_rivals", "logit_spread", "softmax"]
