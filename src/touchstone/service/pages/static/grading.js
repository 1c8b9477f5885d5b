// Grading a reply by keyboard: grades, violations with their spans, a note; every change is saved, and can be undone.
(() => {
  "use strict";
  const KEEP_AFTER = 400;

  const start = (form) => {
    const reply = document.getElementById("reply");
    const node = reply.firstChild;
    const text = node ? node.data : "";
    const status = document.getElementById("saved");
    const groups = [...form.querySelectorAll("[data-criterion]")];
    const radios = (group) => [...group.querySelectorAll("input[type=radio]")];
    const chosen = (group) => group.querySelector("input:checked");
    const kinds = [...document.querySelectorAll("[data-kind]")];
    const note = form.elements.note;
    const send = [...form.elements].find((each) => each.type === "submit");
    const stops = [...groups, send];
    const local = `touchstone-draft ${form.dataset.user} ${form.dataset.draft}`;
    const began = Date.now();
    let marks = [];
    let past = [];
    let timer = 0;
    let isSent = false;
    let stop = groups[0];

    // Spans are counted in characters as people and the server count them, not in UTF-16 units.
    const toPoints = (at) => Array.from(text.slice(0, at)).length;
    const toUnits = (at) => Array.from(text).slice(0, at).join("").length;

    const state = () => ({
      grades: Object.fromEntries(groups.filter(chosen).map((group) => [group.dataset.criterion, chosen(group).value])),
      violations: marks.map((mark) => ({ ...mark })),
      note: note.value,
    });

    const apply = (found) => {
      for (const group of groups) {
        const value = (found.grades || {})[group.dataset.criterion];
        for (const radio of radios(group)) radio.checked = radio.value === value;
        describe(group);
      }
      marks = (found.violations || []).map((mark) => ({ ...mark }));
      note.value = found.note || "";
      drawMarks();
    };

    const describe = (group) => {
      const radio = chosen(group);
      const said = radio && group.querySelector(`[data-level="${radio.value}"]`);
      group.querySelector(".level").textContent = said ? said.textContent : radio ? "You cannot tell." : "";
      group.classList.toggle("graded", Boolean(radio));
      document.getElementById("left").textContent = left() ? `${left()} to grade` : "Enter submits";
    };
    const left = () => groups.filter((group) => !chosen(group)).length;

    // What is filled in goes to the server; until it is there, the browser keeps it as well.
    const changed = () => {
      const now = JSON.stringify(state());
      if (past.at(-1).state === now) return;
      past.push({ state: now, stop });
      try { localStorage.setItem(local, now); } catch { /* not allowed: the server has it in a moment */ }
      say("Saving …");
      clearTimeout(timer);
      timer = setTimeout(keep, KEEP_AFTER);
    };
    const keep = async () => {
      clearTimeout(timer);
      timer = 0;
      if (isSent || !form.dataset.draft) return;
      const body = new URLSearchParams({ body: JSON.stringify(state()) });
      try {
        const answer = await fetch(form.dataset.draft, { method: "POST", body, headers: headers(), keepalive: true });
        if (!answer.ok) throw new Error(answer.status);
        if (!status.classList.contains("wrong")) say("Saved");
        try { localStorage.removeItem(local); } catch { /* nothing was kept */ }
      } catch {
        say("Not saved on the server; kept in this browser. It is tried again.", "lost");
        timer = setTimeout(keep, 5000);
      }
    };
    const headers = () => ({ "X-CSRF-Token": form.elements.csrf_token.value, "HX-Request": "true" });
    // What is "wrong" waits for the reviewer: a draft that is saved meanwhile does not replace it.
    const say = (words, kind = "") => { status.textContent = words; status.className = kind; };

    const undo = () => {
      if (past.length < 2) { say("There is nothing to undo."); return; }
      const undone = past.pop();
      apply(JSON.parse(past.at(-1).state));
      enter(undone.stop);
      say("Undone");
      clearTimeout(timer);
      timer = setTimeout(keep, KEEP_AFTER);
    };

    // The focus goes through the criteria in their order and on to the submit button; `stop` is where it is, or was last.
    const enter = (at, options) => { (at === send ? send : chosen(at) || radios(at)[0]).focus(options); };
    const next = (at, by = 1) => stops[stops.indexOf(at) + by] || at;
    const move = (by) => enter(stop.contains(document.activeElement) ? next(stop, by) : stop);
    const grade = (value) => {
      const group = groups.find((each) => each.contains(document.activeElement));
      if (!group) { say("Nothing is graded: no criterion has the focus. ↑ and ↓ go to one.", "wrong"); return; }
      const radio = radios(group).find((each) => each.value === value);
      if (!radio) { say(`There is no ${value} here: the grades are ${radios(group).map((each) => each.value).filter((each) => each !== "none").join(" and ")}.`, "wrong"); return; }
      radio.checked = true;
      settle(group);
      if (group.dataset.criterion === "safety" && value === "0" && !marks.length) mark(next(group));
      else enter(next(group));
    };
    const settle = (group) => {
      if (group.dataset.criterion === "safety" && chosen(group).value !== "0" && marks.length) { marks = []; drawMarks(); }
      describe(group);
      changed();
    };

    // Violations: words of the reply are chosen, then the kind.
    const words = [...text.matchAll(/\S+/gu)].map((found) => [found.index, found.index + found[0].length]);
    const panel = document.getElementById("marking");
    let from = 0;
    let to = 0;
    let onward = stop;
    const select = () => {
      if (!node || !words.length) return;
      getSelection().setBaseAndExtent(node, words[from][0], node, words[to][1]);
      const range = getSelection().getRangeAt(0).getBoundingClientRect();
      if (range.top < 80 || range.bottom > innerHeight - 80) reply.scrollIntoView({ block: "nearest" });
      document.getElementById("chosen-words").textContent = text.slice(words[from][0], words[to][1]);
    };
    const selected = () => {
      const found = getSelection();
      if (!node || found.rangeCount === 0 || found.isCollapsed) return null;
      const range = found.getRangeAt(0);
      if (range.startContainer !== node && !reply.contains(range.startContainer)) return null;
      const begin = range.startContainer === node ? range.startOffset : 0;
      const end = range.endContainer === node ? range.endOffset : text.length;
      return begin < end ? [begin, end] : null;
    };
    const mark = (then) => {
      panel.hidden = false;
      onward = then;
      const found = selected();
      if (found) {
        from = Math.max(0, words.findIndex(([, end]) => end > found[0]));
        to = Math.max(from, words.findLastIndex(([begin]) => begin < found[1]));
      }
      reply.focus({ preventScroll: false });
      select();
    };
    const isMarking = () => !panel.hidden;
    const leave = () => { panel.hidden = true; getSelection().removeAllRanges(); };
    const sentence = (by) => {
      const ends = words.map(([, end], at) => (/[.!?]["”’)]*$/u.test(text.slice(0, end)) ? at : -1)).filter((at) => at >= 0);
      const starts = [0, ...ends.map((at) => at + 1)].filter((at) => at < words.length);
      let at = starts.findLastIndex((begin) => begin <= from) + by;
      at = Math.min(Math.max(at, 0), starts.length - 1);
      from = starts[at];
      to = (starts[at + 1] ?? words.length) - 1;
    };
    const markKeys = (event) => {
      const { key } = event;
      const last = words.length - 1;
      if (key === "Escape") enter(stop);
      else if (key === "ArrowRight" && event.shiftKey) to = Math.min(to + 1, last);
      else if (key === "ArrowLeft" && event.shiftKey) to = Math.max(to - 1, from);
      else if (key === "ArrowRight") { from = Math.min(from + 1, last); to = from; }
      else if (key === "ArrowLeft") { from = Math.max(from - 1, 0); to = from; }
      else if (key === "ArrowDown") sentence(from === 0 && to === 0 ? 0 : 1);
      else if (key === "ArrowUp") sentence(-1);
      else if (/^[1-9]$/.test(key) && kinds[key - 1]) { add(kinds[key - 1].dataset.kind); return true; }
      else return false;
      if (isMarking()) select();
      return true;
    };
    const add = (kind) => {
      const span = selected() || (words.length ? [words[from][0], words[to][1]] : [0, 0]);
      const found = { kind, start: toPoints(span[0]), end: toPoints(span[1]) };
      if (!marks.some((each) => JSON.stringify(each) === JSON.stringify(found))) marks.push(found);
      gradeSafety("0");
      drawMarks();
      changed();
      enter(onward);
    };
    const gradeSafety = (value) => {
      const group = groups.find((each) => each.dataset.criterion === "safety");
      if (!group) return;
      for (const radio of radios(group)) radio.checked = radio.value === value;
      describe(group);
    };
    const drawMarks = () => {
      const list = document.getElementById("marks");
      list.replaceChildren(...marks.map((each, at) => {
        const item = document.createElement("li");
        const kind = document.createElement("b");
        kind.textContent = each.kind.replaceAll("_", " ");
        const quote = document.createElement("q");
        quote.textContent = text.slice(toUnits(each.start), toUnits(each.end));
        const remove = document.createElement("button");
        remove.type = "button";
        remove.textContent = "Remove";
        remove.setAttribute("aria-label", `Remove the violation ${kind.textContent}: ${quote.textContent}`);
        remove.addEventListener("click", () => { marks.splice(at, 1); if (!marks.length) gradeSafety(null); drawMarks(); changed(); });
        item.append(kind, " ", quote, " ", remove);
        return item;
      }));
      form.elements.violations.value = JSON.stringify(marks);
      if (!CSS.highlights || !node) return;
      const ranges = marks.map((each) => {
        const range = new Range();
        range.setStart(node, toUnits(each.start));
        range.setEnd(node, toUnits(each.end));
        return range;
      });
      CSS.highlights.set("violation", new Highlight(...ranges));
    };

    const submit = async () => {
      if (isSent) return;
      if (left()) { say(`${left()} to grade: ${groups.filter((group) => !chosen(group)).map((group) => group.dataset.criterion).join(", ")}.`, "wrong"); enter(groups.find((group) => !chosen(group))); return; }
      if (note.required && !note.value.trim()) { say("Give a reason.", "wrong"); note.focus(); return; }
      isSent = true;
      clearTimeout(timer);
      form.elements.violations.value = JSON.stringify(marks);
      form.elements.seconds.value = ((Date.now() - began) / 1000).toFixed(1);
      say("Sending …");
      try {
        const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: headers(), redirect: "manual" });
        if (answer.type === "opaqueredirect" || answer.ok) {
          try { localStorage.removeItem(local); } catch { /* nothing was kept */ }
          location.assign(form.dataset.next);
          return;
        }
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        say(answer.status === 401 ? "Your session has ended. Sign in in another tab, then press Enter again." : page.body.textContent.trim(), "wrong");
      } catch {
        say("Not sent: there is no connection. Everything is kept; press Enter to try again.", "wrong");
      }
      isSent = false;
    };

    const keys = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1), j: () => move(1), k: () => move(-1),
      x: () => grade("none"), v: () => mark(stop), z: undo, Enter: submit,
      l: () => document.getElementById("levels").click(), n: () => note.focus(),
      s: () => document.getElementById("skip")?.requestSubmit(),
      "?": () => { const help = document.getElementById("keys"); help.open = !help.open; },
    };
    document.addEventListener("keydown", (event) => {
      if (event.altKey || ((event.ctrlKey || event.metaKey) && event.key !== "Enter")) return;
      const writes = event.target.closest("textarea, select, input:not([type=radio])");
      if (writes) {
        if (event.key === "Escape") { event.preventDefault(); enter(stop); }
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); }
        return;
      }
      if (isMarking() && markKeys(event)) { event.preventDefault(); return; }
      if (event.key === "Enter" && event.target.closest("a, summary, button:not([type=submit])")) return;
      const act = /^[0-9]$/.test(event.key) ? () => grade(event.key) : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    document.addEventListener("focusin", (event) => {
      const found = stops.find((each) => each.contains(event.target));
      if (!found) return;
      stop = found;
      if (isMarking()) leave();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
    form.addEventListener("change", (event) => { if (event.target.type === "radio") settle(event.target.closest("[data-criterion]")); });
    note.addEventListener("input", changed);
    document.getElementById("mark").addEventListener("click", () => mark(stop));
    document.getElementById("undo").addEventListener("click", undo);
    document.getElementById("levels").addEventListener("click", (event) => {
      const shown = form.classList.toggle("with-levels");
      event.currentTarget.setAttribute("aria-pressed", String(shown));
    });
    for (const button of kinds) button.addEventListener("click", () => add(button.dataset.kind));
    addEventListener("online", () => { if (timer) keep(); });
    addEventListener("pagehide", () => { if (timer) keep(); });

    let kept = "";
    try { kept = localStorage.getItem(local) || ""; } catch { /* not allowed */ }
    const first = kept || form.dataset.filled;
    apply(first ? JSON.parse(first) : {});
    past = [{ state: JSON.stringify(state()), stop }];
    if (kept) { say("What you had filled in is back."); timer = setTimeout(keep, KEEP_AFTER); }
    enter(groups.find((group) => !chosen(group)) || groups[0], { preventScroll: true });
  };

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("grading");
    if (form) start(form);
  });
})();
