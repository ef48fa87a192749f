// Addresses and their parameters.

/**
 * Puts parameters into those of an address; null takes one out.
 * @param {URLSearchParams} query
 * @param {Record<string, any>} parameters
 */
export function addressed(query, parameters) {
  for (const [name, value] of Object.entries(parameters)) {
    if ((value ?? null) === null) query.delete(name);
    else query.set(name, value);
  }
  return query;
}
