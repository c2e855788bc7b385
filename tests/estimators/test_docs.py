"""The examples of the docstrings run, and name every parameter and attribute."""

import doctest
import re
from typing import Any

import pytest

from paring import SparseClassifier, SparseRegressor
from paring.estimators import base, classifier, regressor
from tests.estimators.data import binary, regression


@pytest.mark.parametrize("module", [base, classifier, regressor])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(("cls", "data"), [(SparseRegressor, regression()), (SparseClassifier, binary())])
def test_every_parameter_and_attribute_is_named(cls: type, data: Any) -> None:
    text = cls.__doc__ or ""
    model = cls().fit(*data)
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    for name in {*model.get_params(), *public}:
        assert re.search(rf"^ +(\w+, )*{name}(, \w+)* : |^ +{name} : ", text, re.MULTILINE), name
    for method in [cls.fit, cls.predict, cls.get_support, cls.set_callbacks]:
        assert "Parameters\n" in (method.__doc__ or "") and "Returns\n" in (method.__doc__ or "")
    assert "Cost:" in text and "Cost:" in (cls.predict.__doc__ or "")
