"""What may be asked besides k: features always in, groups in whole, bounds on coefficients.

scikit-learn's diabetes data: age and sex must be in the model, body mass index and blood pressure may not lower the
score, and the six blood values may only come in as their three made-up panels.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from paring import SparseRegressor

data, y = load_diabetes(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(data)
panel = {"s1": "lipids", "s2": "lipids", "s3": "lipids", "s4": "ratio", "s5": "sugar", "s6": "sugar"}
settings = {
    "four features": {},
    "age and sex always": {"always_select": ["age", "sex"]},
    "no negative coefficient": {"lower_bounds": 0.0},
    "panels in whole": {"groups": [panel.get(name, name) for name in X.columns]},
    "all of these": {
        "always_select": ["age", "sex"],
        "lower_bounds": np.where(X.columns.isin(["bmi", "bp"]), 0.0, -np.inf),
        "groups": [panel.get(name, name) for name in X.columns],
    },
}
for name, options in settings.items():
    model = SparseRegressor(4, **options).fit(X, y)
    kept = ", ".join(X.columns[model.support_])
    print(f"{name:24s} R² {model.score(X, y):.3f}  {kept}")
