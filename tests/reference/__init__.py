"""Short NumPy and SciPy twins of what the library computes, for the tests."""
