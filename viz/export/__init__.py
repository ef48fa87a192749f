"""What leaves as a file: a web page with one figure that stands for itself."""
