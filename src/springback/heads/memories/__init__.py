"""The memories of a head, one file each: its settings, the parts of its state, and what its kernel is given.

A memory has a file of the same name in `springback.heads.reference`, `springback.heads.compiled` and
`springback.torch.memories`; docs/extending.md says how one is added.
"""
