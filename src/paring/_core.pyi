"""The compiled sweeps of paring."""



version: str = '0.1.0'
