"""The engine in the visitor's browser, as the app uses it: its files, and the claim about it on Self-check."""
