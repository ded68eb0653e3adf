// Search over the pages of the site, with the index that is part of it.
const input = document.getElementById("search"), found = document.getElementById("found");
const menu = document.getElementById("menu"), wide = matchMedia("(min-width: 60rem)");
const root = document.querySelector("header .name").href;

const fit = () => { menu.open = wide.matches; };
wide.addEventListener("change", fit);
fit();

// score counts the words of the query in a page; a title counts ten times.
function score(page, words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = page.title.toLowerCase().includes(word) ? 10 : 0;
    const inText = page.text.toLowerCase().split(word).length - 1;
    if (!inTitle && !inText) return 0;
    sum += inTitle + Math.min(inText, 5);
  }
  return sum;
}

function excerpt(page, word) {
  const at = Math.max(0, page.text.toLowerCase().indexOf(word) - 40);
  return page.text.slice(at, at + 140).replace(/\s+/g, " ");
}

input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : (window.csisimPages || [])
    .map((page) => ({ page, score: score(page, words) }))
    .filter((hit) => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 12);
  found.replaceChildren(...hits.map(({ page }) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
    link.href = new URL("." + page.url.replace(/^\.?/, ""), root);
    link.textContent = page.title;
    text.textContent = excerpt(page, words[0]);
    link.append(text);
    item.append(link);
    return item;
  }));
  found.hidden = words.length === 0;
  if (words.length > 0 && hits.length === 0) found.textContent = "No page has all of these words.";
});
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  if (event.key === "Escape") { found.hidden = true; input.blur(); }
});
