"""The data of trainings. Begin with `corpora`."""
