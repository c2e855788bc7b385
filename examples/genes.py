"""Gene expression: 120 patients, 5,000 correlated genes, six of which drive the response.

Chooses k by cross-validation, fits, and says what is known of the answer.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV

from paring import SparseRegressor

rng = np.random.default_rng(1)
n, d, drivers = 120, 5_000, [12, 700, 1500, 2600, 3300, 4900]
pathway = np.repeat(rng.standard_normal((n, d // 20)), 20, axis=1)  # genes of a pathway rise and fall together
X = np.sqrt(0.5) * pathway + np.sqrt(0.5) * rng.standard_normal((n, d))
y = X[:, drivers] @ [2.0, -1.5, 1.5, -1.0, 1.0, 1.0] + 0.8 * rng.standard_normal(n)

search = GridSearchCV(SparseRegressor(), {"n_nonzero_coefs": range(1, 13)}, scoring="neg_mean_squared_error", cv=5)
search.fit(X, y)
model = search.best_estimator_
chosen = model.get_support(indices=True)

print("k by cross-validation:", search.best_params_["n_nonzero_coefs"])
for j in chosen:
    print(f"  gene {j:4d}  {model.coef_[j]:+.2f}  {'a driver' if j in drivers else ''}")
print(model.result_.certificate.statement)
