"""The frame around the pages: who computes now (`turns`)."""
