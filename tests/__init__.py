"""What holds of the whole, as tests; a package, so that no other one called tests comes before it."""
