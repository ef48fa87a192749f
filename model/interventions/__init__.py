"""Changes inside a running model during a call, described as plain data and carried out."""
