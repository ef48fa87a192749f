"""What is shown, as one value, to and from an address (`view`), and what options make of it (`maps`); draws nothing."""
