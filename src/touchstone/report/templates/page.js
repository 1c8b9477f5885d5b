(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  const setUpFilter = (table) => {
    const form = byId("filter"), find = byId("find"), shown = byId("shown");
    const picks = [...form.querySelectorAll("select")];
    const rows = [...table.tBodies[0].rows].map((row) => ({
      row,
      text: row.textContent.toLowerCase(),
      keys: [row.dataset.o, row.dataset.c, row.dataset.t].map((key) => new Set((key || "").split(" "))),
    }));
    const apply = () => {
      const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      let visible = 0;
      for (const each of rows) {
        const fits = picks.every((pick, at) => pick.value === "" || each.keys[at].has(pick.value))
          && wanted.every((word) => each.text.includes(word));
        each.row.hidden = !fits;
        if (fits) visible += 1;
      }
      shown.textContent = `${visible.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
    };
    let waiting = 0;
    find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
    for (const pick of picks) pick.addEventListener("change", apply);
    form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
    form.addEventListener("reset", () => setTimeout(apply, 0));
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-tag]");
      if (!link) return;
      form.reset();
      byId("pick-tag").value = link.dataset.tag;
      setTimeout(apply, 0);
    });
    const reveal = () => {
      const target = byId(location.hash.slice(1));
      if (!target || !target.hidden) return;
      form.reset();
      for (const each of rows) each.row.hidden = false;
      target.scrollIntoView({ block: "center" });
    };
    addEventListener("hashchange", reveal);
    form.hidden = false;
    apply();
  };

  const setUpSort = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const read = (row, at) => row.cells[at].textContent.trim();
    const order = (at, numeric, way) => (a, b) => {
      const [x, y] = [read(a, at), read(b, at)];
      if (x === "–" || y === "–") return (x === "–") - (y === "–");
      return way * (numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true }));
    };
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const each of heads) each.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
        const sorted = [...table.tBodies[0].rows].sort(order(at, head.classList.contains("n"), way));
        table.tBodies[0].append(...sorted);
      });
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    const table = byId("all");
    if (!table) return;
    setUpFilter(table);
    setUpSort(table);
  });
})();
