"""The compiled kernels of the heads, one file for each memory: one call of `follow` follows a stretch of all streams.

All kernels have the same arguments: `follow(state, rows, answers, gaps, weight, bias, centre, numbers, novel)`.

* `state`: the parts of a `State` of the memory, which move in place;
* `rows`: T frames of B streams, (T * B, n); `answers` (T * B, K) holds the output at rest, and then the answers;
* `gaps`: time since the frame before it, (T, B);
* `weight` (K, n) and `bias` (K,): only read if `Memory.reads_weights` says so, and may be empty
  otherwise, the bias always;
* `centre` (n,): subtracted before frames are compared;
* `numbers`: those of `Memory.numbers`;
* `novel`: receives the probability of something new, (T * B,), if the memory knows it; may be empty.
"""
