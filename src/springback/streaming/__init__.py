"""What all models of a stream share.

The records that they take (`records`), time stamps, the magnitude and the channels of rows, a lock for each model, the
base class of classifiers that follow a stream, and how answers become classes (`readout`) and are scored (`metrics`).
"""
