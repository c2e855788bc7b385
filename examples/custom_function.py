"""Any smooth function: Cauchy regression, which outliers hardly move, with at most three coefficients.

The loss log(1 + r²) is not among paring's own; ``paring.minimize`` needs its value and gradient only.
"""

import numpy as np

import paring

rng = np.random.default_rng(0)
n, d = 300, 50
X = rng.standard_normal((n, d))
y = X[:, [4, 17, 30]] @ [3.0, -2.0, 1.5] + 0.3 * rng.standard_normal(n)
y[:30] += 40 * rng.standard_normal(30)  # a tenth of the targets are wrong


def value_and_gradient(w):
    r = X @ w - y
    return np.mean(np.log1p(r**2)), X.T @ (2 * r / (1 + r**2)) / n


squares = paring.SparseRegressor(3, fit_intercept=False).fit(X, y)
cauchy = paring.minimize(value_and_gradient, 3, squares.coef_, jac=True)

print("truth         [ 4 17 30] [ 3.  -2.   1.5]")
print("least squares", squares.get_support(indices=True), squares.coef_[squares.support_].round(2))
print("Cauchy       ", cauchy.support, cauchy.coef[cauchy.support].round(2))
print(cauchy.certificate.statement)
