// The theme before the page is drawn, and the button that changes it.
(() => {
  "use strict";
  const root = document.documentElement;
  const remembered = () => { try { return localStorage.getItem("touchstone-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("touchstone-theme", theme); } catch { /* not allowed */ } };
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const rest = button.textContent.replace(/^\w+/, "");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const name = () => { button.textContent = (isDark() ? "Light" : "Dark") + rest; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      name();
    });
    system.addEventListener("change", name);
    name();
    button.hidden = false;
  });
})();
