"""ASW_Basic in theory: batched products on one chip of cube cores, as an analysis derives them."""
