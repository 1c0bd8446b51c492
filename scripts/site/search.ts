import MiniSearch, { type AsPlainObject } from "minisearch";
import { searchOptions } from "./search-index.js";

// Runs in the browser, on every page. The index is read when the search is first used, by an element: browsers reject
// modules and `fetch` to pages that are files.

declare const searchIndex: AsPlainObject;

const form = document.querySelector("#search") as HTMLFormElement;
const input = form.querySelector("input") as HTMLInputElement;
const list = form.querySelector("ul") as HTMLUListElement;
const status = form.querySelector("output") as HTMLOutputElement;
let search: MiniSearch | undefined;

// In the sidebar the page itself comes into sight.
const current = document.querySelector<HTMLElement>("nav [aria-current]");
if (current?.offsetParent) current.offsetParent.scrollTop = current.offsetTop - 200;

form.hidden = false;
input.addEventListener("focus", load, { once: true });
input.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target as Node)) list.hidden = true;
});
document.addEventListener("keydown", (event) => {
  const isInForm = form.contains(document.activeElement);
  if (event.key !== (isInForm ? "Escape" : "/")) return;
  if (isInForm) input.value = "";
  event.preventDefault();
  input.focus();
  show();
});

function load(): void {
  const script = document.createElement("script");
  script.src = "search-index.js";
  script.onload = () => {
    search = MiniSearch.loadJS(searchIndex, searchOptions);
    show();
  };
  document.head.append(script);
}

function show(): void {
  const found = search?.search(input.value) ?? [];
  const items = found.slice(0, 12).map(({ id, title, where }) => {
    const [item, link, small] = ["li", "a", "small"].map((name) => document.createElement(name));
    link?.setAttribute("href", id);
    small?.append(where);
    link?.append(title, small as HTMLElement);
    item?.append(link as HTMLElement);
    return item as HTMLElement;
  });
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
  const isAsked = input.value.trim() !== "" && search !== undefined;
  status.value = isAsked ? `${found.length === 0 ? "Nothing" : found.length} found` : "";
}
