"""What is measured against whom: one file a question, each prints a table."""
