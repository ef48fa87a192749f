// Attention weights while they are in memory: for each row of a pass (layers, heads, keys).

export class Maps {
  /**
   * @param {import("../arithmetic/memory.js").Memory} memory
   * @param {number} rows
   * @param {number} layers
   * @param {number} heads
   * @param {number} nKeys
   */
  constructor(memory, rows, layers, heads, nKeys) {
    this.layers = layers;
    this.heads = heads;
    this.nKeys = nKeys;
    this.start = memory.allocate(rows * layers * heads * nKeys);
  }

  /**
   * The address of the weights (heads, keys) of a row in a layer.
   * @param {number} row
   * @param {number} layer
   */
  address(row, layer = 0) {
    return this.start + 4 * (row * this.layers + layer) * this.heads * this.nKeys;
  }
}

/**
 * Rows of maps as one array (layers, heads, rows, columns); columns that a row does not have are 0.
 * @param {import("../arithmetic/memory.js").Memory} memory
 * @param {{maps: Maps, row: number}[]} rows
 * @param {number} columns
 */
export function stackRows({ floats }, rows, columns) {
  const { layers, heads } = rows[0].maps;
  const data = new Float32Array(layers * heads * rows.length * columns);
  rows.forEach(({ maps, row }, at) => {
    for (let map = 0; map < layers * heads; map++) {
      const first = maps.address(row) / 4 + map * maps.nKeys;
      data.set(floats.subarray(first, first + maps.nKeys), (map * rows.length + at) * columns);
    }
  });
  return { data, shape: [layers, heads, rows.length, columns] };
}
