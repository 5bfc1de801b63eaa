"""Cases recorded from CANN's own host tiling of batched matrix products."""
