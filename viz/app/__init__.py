"""The frame around the pages: who may talk to the app (`guard`), who computes now (`turns`)."""
