"""Text in, result out: the translator, the fast steps of its search, and what its words are attributed to."""
