"""Parts that any page may use, each with its JavaScript beside it; no page is imported here."""
