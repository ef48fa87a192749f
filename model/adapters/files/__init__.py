"""The files of a model: fetched from the hub or found on this machine, and inspected before they are read."""
