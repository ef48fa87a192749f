// A picture of a figure, drawn anew in the browser: Plotly comes from this very server, once, when first asked for.

const FORMATS = { PNG: { format: "png", scale: 2 }, SVG: { format: "svg", scale: 1 } };

let loading = null;
function load(script, words) {
  loading ??= new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = script;
    element.onload = () => (window.Plotly ? resolve(window.Plotly) : reject(new Error(words["not plotly"])));
    element.onerror = () => {
      loading = null; // asked again with the next click
      element.remove();
      reject(new Error(words["not loaded"]));
    };
    document.head.appendChild(element);
  });
  return loading;
}

function save(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".take");
  const said = document.createElement("small");
  said.setAttribute("role", "status");
  const buttons = Object.entries(FORMATS).map(([label, options]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.onclick = async () => {
      buttons.forEach((one) => (one.disabled = true));
      said.textContent = data.words.drawing;
      try {
        const Plotly = await load(data.script, data.words);
        const { data: traces, layout } = JSON.parse(data.figure);
        const size = { width: data.width, height: data.height };
        const picture = { data: traces, layout: { ...layout, ...size }, config: {} };
        save(await Plotly.toImage(picture, { ...options, ...size }), `${data.name}.${options.format}`);
        said.textContent = "";
      } catch (error) {
        said.textContent = data.words.failed.replace("{reason}", () => error.message);
      }
      buttons.forEach((one) => (one.disabled = false));
    };
    return button;
  });
  root.replaceChildren(...buttons, said);
}
