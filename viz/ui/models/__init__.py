"""What pages say of models: which one is chosen or opened, the roles of its heads, and cards about it."""
