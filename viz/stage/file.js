// The stage as a file: a page that needs neither a server nor a network, and opens as the stage stands.

/** Bytes as gzip in base64. */
async function packed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const address = await new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result));
    reader.addEventListener("error", () => failed(reader.error));
    new Response(stream).blob().then((blob) => reader.readAsDataURL(blob), failed);
  });
  return address.slice(address.indexOf(",") + 1);
}

/** The text of the file: the shell that the server keeps (shell.py), the message, and the maps that came later. */
export async function file({ host, whole, bytes }) {
  const parts = { "": await packed(bytes) };
  for (const told of [whole, whole.before, whole.difference]) {
    const kinds = [...(told?.kinds ?? []), ...Object.values(told?.effects?.kinds ?? {})];
    for (const { address } of kinds) if (address) parts[address] = await packed(await host.part(address));
  }
  const message = JSON.stringify({ place: host.memory, parts }).replaceAll("<", "\\u003c");
  return (await host.shell()).replace("@message@", () => message);
}
