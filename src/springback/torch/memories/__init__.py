"""The memories in torch, for gradients, exports and other devices; `springback.heads.compiled` has the same in kernels.

A state holds what is remembered right after the last frame; it fades by one frame when the next one is read, and again
when that one is remembered. All of it is modified in place.
"""
