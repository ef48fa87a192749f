"""What leaves as a file: web pages that stand for themselves (`page`), the report of a translation (`report`)."""
