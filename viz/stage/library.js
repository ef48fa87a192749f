// Our own copy of Plotly, loaded once.

let source;

/** Plotly: the page's head has begun to load it. */
export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  source ??= new Promise((done, failed) => {
    const address = document.querySelector("link[data-plotly]")?.href;
    const script = document.querySelector("script[data-plotly]") ?? document.createElement("script");
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => failed(new Error("Plotly")));
    if (script.isConnected) return;
    script.src = address;
    document.head.append(script);
  });
  return source;
}
