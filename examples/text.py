"""Text: 4,000 short texts over 8,000 words, as a sparse matrix; the twenty words that tell two classes apart."""

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from paring import SparseClassifier

rng = np.random.default_rng(0)
n, d, length = 4_000, 8_000, 60
frequency = 1 / np.arange(1, d + 1)  # Zipf's law
words = rng.choice(d, size=(n, length), p=frequency / frequency.sum())
counts = sp.csc_array((np.ones(n * length), (np.repeat(np.arange(n), length), words.ravel())), shape=(n, d))
counts.sum_duplicates()
X = counts.astype(np.float32).log1p()

telling = rng.choice(np.arange(5, 100), 20, replace=False)
w = np.zeros(d)
w[telling] = rng.choice([-3.0, 3.0], 20)
y = np.where(X @ w + rng.logistic(size=n) > 0, "spam", "ham")

X_train, X_test, y_train, y_test = train_test_split(X.tocsr(), y, random_state=0)
model = SparseClassifier(20).fit(X_train.tocsc(), y_train)

found = np.intersect1d(model.get_support(indices=True), telling)
print(f"{len(found)} of the {len(telling)} telling words are among the {model.n_nonzero_coefs_} chosen")
print(f"accuracy on new texts: {model.score(X_test, y_test):.3f}")
print(f"largest class: {max(np.mean(y_test == label) for label in model.classes_):.3f}")
print(f"copied of X: {model.result_.copied_bytes} bytes")
