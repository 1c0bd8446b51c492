import { type Page, titleOf } from "./pages.js";
import { escaped, type Place } from "./render.js";

interface Layout {
  readonly page: Page;
  readonly pages: readonly Page[];
  readonly places: readonly Place[];
  readonly content: string;
  readonly version: string;
}

/** A whole page; everything that it needs is a file next to it. */
export function layout({ page, pages, places, content, version }: Layout): string {
  const [second = [], third = []] = [2, 3].map((level) => places.filter((place) => place.level === level));
  const sections = (second.length > 1 ? second : third).map(({ id, title }) => link(`#${id}`, title));
  const inside = sections.length > 1 ? `<ul>${sections.join("")}</ul>` : "";
  const groups = [...new Set(pages.flatMap(({ group }) => group ?? []))];
  const listed = groups.map((group) => pages.filter((one) => one.group === group));
  const navigation = listed.map((group, index) => {
    const items = group.map(({ file, label }) => link(file, label, file === page.file ? inside : undefined));
    return `<h2>${groups[index]}</h2>\n<ul>${items.join("\n")}</ul>`;
  });
  const next = page.group === undefined ? undefined : listed.flat()[listed.flat().indexOf(page) + 1];
  const title = page.file === "index.html" ? "svc-sandbox" : `${titleOf(page.text)} · svc-sandbox`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
<script src="search.js" defer></script>
</head>
<body>
<header>
<a class="skip-link" href="#content">Skip to the content</a>
<a class="brand" href="index.html">svc-sandbox <small>${version}</small></a>
<form id="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<output></output>
<ul class="results" hidden></ul>
</form>
<a class="to-pages" href="#pages">Pages</a>
</header>
<main id="content" tabindex="-1">
${content}${next === undefined ? "" : `<p class="next">Next: <a href="${next.file}">${escaped(next.label)}</a></p>\n`}</main>
<nav id="pages" aria-label="Pages">
${navigation.join("\n")}
</nav>
</body>
</html>
`;
}

function link(href: string, label: string, inside?: string): string {
  const current = inside === undefined ? "" : ' aria-current="page"';
  return `<li><a href="${href}"${current}>${escaped(label)}</a>${inside ?? ""}</li>`;
}
