import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def oracle():
    """The slow reference of the package, from the file beside this one."""
    spec = importlib.util.spec_from_file_location("elastic_oracle", Path(__file__).with_name("oracle.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
