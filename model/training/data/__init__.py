"""What training reads. Begin with `corpora`."""
