"""Between which sizes numbers are taken. Beyond, products of four of them (a weight's gain, say) overflow or vanish."""

LARGEST, SMALLEST = 1e70, 1e-70
