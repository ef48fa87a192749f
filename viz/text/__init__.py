"""What the app says: `language` looks sentences up, `markdown` shows words of others as they are."""
