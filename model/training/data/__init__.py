"""What training reads: corpora, downloads, noise, and padded batches in a seeded order. Begin with `corpora`."""
