"""Speed and streams: springback beside other simulators, and its head beside other methods of test-time adaptation.

- `rivals`: other methods of test-time adaptation, one file each, with its search ranges.
- `stream_sets`: streams of features through frozen networks, one file for each kind.
- `comparison`: our head and its rivals on these streams (`springback bench streams`).
- `speed`: springback, other simulators and the machine's limit (`springback bench`).
- `place`, `machine`, `markdown`, `rounding`: where and how both kinds of benchmark write their results.
"""
