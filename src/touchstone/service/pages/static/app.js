// What every page shares: a form is sent once, keys answer.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");

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

  // A file is sent once it is chosen or dropped, unless it is too large; what is said then is in its data-send.
  const setUpFiles = () => {
    document.addEventListener("change", ({ target }) => {
      if (!target.matches("[data-send]") || !target.files.length) return;
      target.setCustomValidity(target.files[0].size > Number(target.dataset.most) ? target.dataset.send : "");
      target.form.requestSubmit();
    });
    for (const input of document.querySelectorAll("[data-send]")) {
      const mark = (name, is) => input.addEventListener(name, () => input.parentElement.classList.toggle("over", is));
      mark("dragover", true); mark("dragleave", false); mark("drop", false);
    }
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

  // An address from before there were tabs ends with the name of a section: it opens the tab that has it now.
  const openTab = () => {
    const named = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const link = named && named.closest(".tabs") && (named.matches("a") ? named : named.querySelector("a"));
    if (link) location.replace(link.href);
  };

  document.addEventListener("DOMContentLoaded", () => { setUpForms(); setUpFiles(); setUpKeys(); openTab(); });
})();
