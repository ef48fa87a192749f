"""What pages compute beside a translation: of heads, masks, positions, grids of runs and models; draws nothing."""
