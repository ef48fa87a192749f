// The stage as a file: a page that needs neither a server nor a network, and opens as the stage stands.

async function packed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const blob = await new Response(stream).blob();
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1]);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** The page (files.py) with the message and the maps that came later. */
export async function file({ host, whole, bytes }) {
  const parts = { "": await packed(bytes) };
  for (const told of [whole, whole.before, whole.difference]) {
    const kinds = [...(told?.kinds ?? []), ...Object.values(told?.effects?.kinds ?? {})];
    for (const { address } of kinds) if (address) parts[address] = await packed(await host.part(address));
  }
  const message = JSON.stringify({ place: host.memory, parts }).replaceAll("<", "\\u003c");
  return (await host.shell()).replace("@message@", () => message);
}
