"""Parts that any page may use, each with its JavaScript beside it: `plot` shows a figure. No page is imported here."""
