// What the stage asks its host for.

/**
 * Asks the host for what is not here yet, once.
 * @param {import("./stage.js").Stage} stage
 * @param {Record<string, any>} parameters
 * @returns {null}
 */
export function request(stage, parameters) {
  const wanted = JSON.stringify([stage.whole.stamp, parameters]);
  if (wanted !== stage.requested) stage.host.ask?.(parameters);
  stage.requested = wanted;
  stage.says.textContent = stage.say("computing");
  return null;
}
