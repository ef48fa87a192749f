"""Films: tiny models that are trained while a camera looks at every head: tasks, runs, and what is recorded of them."""
