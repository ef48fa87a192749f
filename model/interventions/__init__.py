"""What can be changed inside a running model during a call, as plain data, and how it is carried out."""
