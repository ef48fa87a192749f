"""The frame around the pages: what passes between browsers and them (`guard`), who computes now (`turns`)."""
