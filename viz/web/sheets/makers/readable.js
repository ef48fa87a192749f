// What is shown in place of texts that cannot be read.

/**
 * What is computed of a request; of one that cannot be read, of the first of others that can be, and why.
 * @template Request, Answer
 * @param {Request} request
 * @param {{request: Request, shown: string}[]} others  each with the sentence that says what is shown
 * @param {(request: Request) => Promise<Answer>} compute
 * @param {import("../types.js").Given["problemOf"]} problemOf
 * @returns {Promise<{request: Request, result: Answer, warning: string}>}  the request is that of the result
 */
export async function readable(request, others, compute, problemOf) {
  try {
    return { request, result: await compute(request), warning: "" };
  } catch (error) {
    const problem = problemOf(error);
    if (!problem) throw error;
    for (const other of others) {
      try {
        return { request: other.request, result: await compute(other.request), warning: `${problem} ${other.shown}` };
      } catch (second) {
        if (!problemOf(second)) throw second;
      }
    }
    throw error;
  }
}
