"""What the reader sees: figures (pure functions), components (browser parts) and screens (pages)."""
