import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the public data sets; continuous integration must have it, others may not."""
    folder = os.environ.get("HEBBGYM_DATA")
    if folder and (Path(folder) / "locomo" / "locomo10.json").is_file():
        return Path(folder)
    reason = "needs the public data sets; name their folder by HEBBGYM_DATA"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
