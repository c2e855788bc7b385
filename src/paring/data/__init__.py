"""The door: the one part of the library that knows how data is stored."""
