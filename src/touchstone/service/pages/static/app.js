// The theme before the page is drawn; then what every page shares: the theme button, leaving alone what is unsaved.
(() => {
  "use strict";
  const root = document.documentElement;
  const remembered = () => { try { return localStorage.getItem("touchstone-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("touchstone-theme", theme); } catch { /* not allowed */ } };
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  root.classList.add("scripted");

  const setUpTheme = () => {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      name();
    });
    system.addEventListener("change", name);
    name();
    button.hidden = false;
  };

  // A form is sent once, however often its button is pressed; a question is asked where the form says so.
  const setUpForms = () => {
    document.addEventListener("submit", (event) => {
      const form = event.target;
      if (form.dataset.ask && !confirm(form.dataset.ask)) { event.preventDefault(); return; }
      if (form.method !== "post" || form.dataset.sent) { if (form.dataset.sent) event.preventDefault(); return; }
      if (!event.defaultPrevented) form.dataset.sent = "yes";
    });
    addEventListener("pageshow", (event) => {
      for (const form of document.forms) delete form.dataset.sent;
      if (event.persisted) location.reload();
    });
  };

  // Links and buttons with data-key answer to that key, unless somebody writes.
  const setUpKeys = () => {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target.closest("input:not([type=radio]), textarea, select")) return;
      const key = event.key === '"' || event.key === "\\" ? "" : event.key;
      const found = key && document.querySelector(`[data-key="${key}"]`);
      if (!found || (key === "Enter" && event.target.closest("a, button, summary"))) return;
      event.preventDefault();
      if (found.matches("details")) { found.open = !found.open; found.querySelector("input:not([type=hidden]), textarea")?.focus(); }
      else found.click();
    });
  };

  document.addEventListener("DOMContentLoaded", () => { setUpTheme(); setUpForms(); setUpKeys(); });
})();
