// The search in the pages of the documentation. It works offline: the build puts the headings of all pages in front of this file.

/** A heading: its page and anchor, its words, the title of its page, and the code words in the tables below it. */
interface Heading {
  readonly at: string;
  readonly title: string;
  readonly page: string;
  readonly terms: string;
}

declare const headings: readonly Heading[];

const mostResults = 12;
const field = document.createElement("input");
const list = document.createElement("div");
const nothing = document.createElement("p");
let active = -1;

/** How well a heading fits the words: 0 if one of them is missing. */
function fitOf({ title, page, terms }: Heading, words: readonly string[]): number {
  const [inTitle, inPage, inTerms] = [title, page, terms].map((text) => text.toLowerCase());
  let fit = 0;
  for (const word of words) {
    if (inTitle?.startsWith(word)) fit += 8;
    else if (inTitle?.includes(word)) fit += 5;
    else if (inTerms?.split(" ").includes(word)) fit += 5;
    else if (inPage?.includes(word)) fit += 2;
    else if (inTerms?.includes(word)) fit += 1;
    else return 0;
  }
  return fit;
}

function found(text: string): readonly Heading[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const fits = headings.map((heading) => ({ heading, fit: fitOf(heading, words) }));
  const results = fits.filter(({ fit }) => fit > 0).sort((one, other) => other.fit - one.fit);
  return results.slice(0, mostResults).map(({ heading }) => heading);
}

function resultLink({ at, title, page }: Heading, index: number): HTMLAnchorElement {
  const link = document.createElement("a");
  link.id = `result-${index}`;
  link.role = "option";
  link.href = at;
  link.tabIndex = -1;
  const where = document.createElement("small");
  where.className = "muted";
  where.append(page === title ? "" : ` ${page}`);
  link.append(title, where);
  // A link to a heading of the same page loads nothing.
  link.addEventListener("click", () => close());
  return link;
}

function show(): void {
  active = -1;
  const results = found(field.value);
  list.replaceChildren(...results.map(resultLink));
  list.hidden = results.length === 0;
  const isInVain = list.hidden && field.value.trim() !== "";
  nothing.textContent = isInVain ? "No heading has these words." : "";
  field.setAttribute("aria-expanded", String(!list.hidden));
  field.removeAttribute("aria-activedescendant");
}

function close(): void {
  field.value = "";
  show();
}

function choose(index: number): void {
  const options = [...list.children];
  if (options.length === 0) return;
  active = (index + options.length) % options.length;
  for (const [at, option] of options.entries()) option.ariaSelected = String(at === active);
  field.setAttribute("aria-activedescendant", `result-${active}`);
  options[active]?.scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  const { key } = event;
  if (!["ArrowDown", "ArrowUp", "Escape", "Enter"].includes(key)) return;
  event.preventDefault();
  if (key === "ArrowDown") choose(active + 1);
  if (key === "ArrowUp") choose(active - 1);
  if (key === "Escape") close();
  if (key !== "Enter") return;
  const link = list.querySelector<HTMLElement>(`#result-${Math.max(active, 0)}`);
  link?.click();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

field.type = "search";
field.placeholder = "Search (press /)";
field.ariaLabel = "Search the headings of all pages";
field.role = "combobox";
field.setAttribute("aria-controls", "results");
field.setAttribute("aria-expanded", "false");
field.autocomplete = "off";
list.id = "results";
list.role = "listbox";
list.ariaLabel = "Headings";
list.hidden = true;
nothing.role = "status";
document.querySelector("#search")?.append(field, list, nothing);
