// Our own copy of Plotly, loaded once.

let source;

export function plotly() {
  source ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.onload = () => done(window.Plotly);
    script.onerror = () => ((source = null), failed(new Error("Plotly")));
    script.src = document.querySelector("link[data-plotly]").href;
    document.head.append(script);
  });
  return source;
}
