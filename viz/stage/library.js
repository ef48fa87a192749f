// Our own copy of Plotly, loaded once.

let source;

export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  source ??= new Promise((done, failed) => {
    const script = document.querySelector("script[data-plotly]") ?? document.createElement("script");
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => failed(new Error("Plotly")));
    if (script.isConnected) return;
    script.src = document.querySelector("link[data-plotly]")?.href;
    document.head.append(script);
  });
  return source;
}
