// SPDX-License-Identifier: Apache-2.0
// Shows the preview while somebody types: the same form is sent as by its button, and nothing else needs this.
(() => {
  const form = document.getElementById("ask");
  if (!form) return;
  let timer, running;
  const look = async () => {
    if (running) running.abort();
    running = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("do", "preview");
    try {
      const found = await fetch(form.action, { method: "POST", body: fields, signal: running.signal });
      const page = new DOMParser().parseFromString(await found.text(), "text/html");
      const part = page.getElementById("preview");
      if (part) document.getElementById("preview").replaceChildren(...part.childNodes);
    } catch { /* the next key, or the button, tries again */ }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 600);
  });
})();
