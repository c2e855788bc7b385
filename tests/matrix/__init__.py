"""The matrix test: every loss on every constraint and every way data may lie, against enumeration."""
