"""Parts that any page may use; no page is imported here."""
