"""The page around the stage: what it is sent, and what the actions on it make of the changes."""
