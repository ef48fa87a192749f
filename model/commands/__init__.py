"""What `python -m model COMMAND` does; `model/__main__.py` only parses. Begin with `handlers`."""
