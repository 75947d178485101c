// What the page can do besides being read: filters of remarks, values under the pointer, folded parts in print. It shows all without.
(() => {
  "use strict";
  const source = document.getElementById("source");
  const filters = source && source.querySelector(".filters");
  if (filters) {
    filters.hidden = false;
    const buttons = [...filters.querySelectorAll("button")];
    const show = wanted => {
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.kind === wanted));
        if (button.dataset.kind !== "all")
          source.classList.toggle("hide-" + button.dataset.kind, wanted !== "all" && wanted !== button.dataset.kind);
      }
    };
    filters.addEventListener("click", event => event.target.dataset.kind && show(event.target.dataset.kind));
  }

  // A link into a folded part opens it.
  const reveal = () => {
    let node = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const target = node;
    for (; node; node = node.parentElement)
      if (node.tagName === "DETAILS")
        node.open = true;
    if (target)
      target.scrollIntoView({block: "center"});
  };
  addEventListener("hashchange", reveal);
  reveal();

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.gap)")];
    for (const node of opened)
      node.open = true;
  });
  addEventListener("afterprint", () => opened.forEach(node => { node.open = false; }));

  const timeline = document.querySelector(".timeline");
  const written = document.getElementById("lanes");
  if (!timeline || !written)
    return;
  const {length, lanes} = JSON.parse(written.textContent);
  const cursor = timeline.querySelector(".cursor"), read = timeline.querySelector(".read");
  const time = seconds => {
    for (const [unit, scale] of [["s", 1], ["ms", 1e3], ["µs", 1e6]])
      if (seconds * scale >= 1 || unit === "µs")
        return (seconds * scale).toFixed(seconds * scale < 10 ? 2 : seconds * scale < 100 ? 1 : 0) + " " + unit;
  };
  timeline.addEventListener("pointermove", event => {
    const lane = timeline.querySelector(".lane").getBoundingClientRect();
    const part = (event.clientX - lane.left) / lane.width;
    cursor.hidden = read.hidden = part < 0 || part > 1;
    if (cursor.hidden)
      return;
    const frame = timeline.getBoundingClientRect();
    cursor.style.left = event.clientX - frame.left + "px";
    const lines = ["at " + time(part * length)];
    for (const [name, values] of lanes) {
      const value = values[Math.min(values.length - 1, Math.floor(part * values.length))];
      if (value)
        lines.push(name + ": " + (typeof value === "number" ? value + " %" : value));
    }
    read.textContent = lines.join("\n");
    const right = part < 0.5;
    read.style.left = right ? event.clientX - frame.left + 12 + "px" : "auto";
    read.style.right = right ? "auto" : frame.right - event.clientX + 12 + "px";
    read.style.top = Math.max(0, event.clientY - frame.top - 20) + "px";
  });
  timeline.addEventListener("pointerleave", () => { cursor.hidden = read.hidden = true; });
})();
