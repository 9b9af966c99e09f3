
"use strict";
// The filter. Without scripts it stays hidden, and everything is shown.
(function () {
  var form = document.getElementById("filter");
  var words = document.getElementById("words");
  var shown = document.getElementById("shown");
  var boxes = Array.from(form.querySelectorAll("input[name=verdict]"));
  var rows = Array.from(document.querySelectorAll("tr[data-verdict]"));
  var rest = Array.from(document.querySelectorAll("[data-kernel]:not([data-verdict])"));
  function apply() {
    var verdicts = new Set(boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.value; }));
    var text = words.value.trim().toLowerCase();
    var kept = new Set();
    rows.forEach(function (row) {
      var fits = verdicts.has(row.dataset.verdict) ? row.textContent.toLowerCase().includes(text) : false;
      row.hidden = !fits;
      if (fits) { kept.add(row.dataset.kernel); }
    });
    rest.forEach(function (part) { part.hidden = !kept.has(part.dataset.kernel); });
    shown.textContent = kept.size + " of " + rows.length + " shown";
  }
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  apply();
  // A link to a kernel opens its findings, and paper shows all of them.
  function open() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) { target.open = true; }
  }
  addEventListener("hashchange", open);
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (details) { details.open = true; });
  });
  open();
})();
