"""Numbers over recorded arrays, numpy only: nothing here runs a model. Begin with `maps`."""
