"""Data on disk: write a folder block by block, map it, fit. X is never in memory as a whole."""

import tempfile
from pathlib import Path

import numpy as np

from paring import SparseRegressor, open_dataset
from paring.data.folder import write_folder

rng = np.random.default_rng(0)
n, d, k = 20_000, 400, 5

with tempfile.TemporaryDirectory() as place:
    raw = np.lib.format.open_memmap(Path(place) / "raw.npy", "w+", np.float32, (n, d))
    for start in range(0, n, 5_000):  # as it comes from an instrument, say
        raw[start : start + 5_000] = rng.standard_normal((5_000, d), dtype=np.float32)
    y = raw[:, :k] @ np.arange(1.0, k + 1) + rng.standard_normal(n)

    folder = Path(place) / "folder"
    write_folder(folder, raw, y, feature_names=[f"sensor {j}" for j in range(d)])
    data = open_dataset(folder)
    model = SparseRegressor(k).fit(data.X, data.y)

    print(data.X.shape, data.X.dtype, type(data.X).__name__)
    for j in model.get_support(indices=True):
        print(f"  {data.feature_names[j]}  {model.coef_[j]:.2f}")
    print(f"copied of X: {model.result_.copied_bytes} bytes; passes over it: {model.n_passes_:.0f}")
