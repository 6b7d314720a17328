"""Results as they are kept: with as many digits as a run can tell."""

from typing import Any


def rounded(value: Any) -> Any:
    """Every float with four digits that count: no run tells more.

    >>> rounded({"a": [1234.567, 0.000123456], "b": 3})
    {'a': [1235.0, 0.0001235], 'b': 3}
    """
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
