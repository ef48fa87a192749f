// What the stage asks its host for.

/**
 * Asks the host once for what the message does not hold; another message brings it. Of a sentence that stands in for
 * another nothing is asked.
 * @param {import("./stage.js").Stage} stage
 * @param {import("./message.js").Parameters} parameters
 * @returns {null}
 */
export function request(stage, parameters) {
  stage.says.textContent = stage.say("computing");
  if (stage.message.standIn) return null;
  const key = JSON.stringify([stage.message.stamp, parameters]);
  if (key !== stage.requested) stage.host.ask?.(parameters);
  stage.requested = key;
  return null;
}
