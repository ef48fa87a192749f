// Light or dark: as the system is, or as the visitor has chosen.

const CHOSEN = "headlight-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Restores the theme of an earlier visit, and calls back when the system's changes. @param {() => void} onChange */
export function startTheme(onChange) {
  try {
    document.documentElement.dataset.theme = localStorage.getItem(CHOSEN) ?? "";
  } catch {
    // A page without storage begins as the system is.
  }
  dark.addEventListener("change", onChange);
}

/** Turns light into dark and back. */
export function turnTheme() {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === "dark" : dark.matches;
  dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem(CHOSEN, dataset.theme);
  } catch {
    // It holds until the page is left.
  }
}
