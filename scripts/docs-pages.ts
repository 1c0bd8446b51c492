import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Marked, Renderer, type Tokens } from "marked";
import project from "../package.json" with { type: "json" };
import { root } from "./run-program.js";

const fromRoot = (path: string) => readFile(join(root, path), "utf8");

/** Files next to docs/ that are pages as well, by the names of their pages. */
const pagesOfRoot: Readonly<Record<string, string>> = { "first-steps": "README.md" };

/** The description of the control plane, which a page links to. */
const openApiFile = "control-plane.openapi.json";

/** What is served in place of a page that does not exist, above the list of all. */
const notFound = "# There is no such page\n\nThe documentation has these pages:\n";

/** Writes the pages as HTML into one file, by name, with their style sheet. They share that of the built dashboard. */
export async function buildDocs(into: string): Promise<void> {
  // The Markdown of each page by its name: of docs/, that of its file.
  const pages = new Map<string, string>([["not-found", notFound]]);
  for (const [name, file] of Object.entries(pagesOfRoot)) pages.set(name, await fromRoot(file));
  for (const file of (await readdir(join(root, "docs"))).sort()) {
    if (file.endsWith(".md")) pages.set(file.replace(/\.md$/, ""), await fromRoot(`docs/${file}`));
  }
  const assets = await readdir(join(root, "dist/dashboard/assets"));
  const style = String(assets.find((name) => name.endsWith(".css.br"))).replace(/\.br$/, "");
  const template = await fromRoot("src/dashboard/docs.html");
  const files: Record<string, string> = {
    [openApiFile]: await fromRoot(`docs/${openApiFile}`),
    "docs.css": await fromRoot("src/dashboard/styles/docs.css"),
  };
  for (const [name, text] of pages) {
    const renderer = new PageRenderer(name);
    const menu = menuOf(String(pages.get("README")), name);
    let content = new Marked().parse(text, { renderer, async: false });
    if (name === "not-found") content += menu;
    const { version } = project;
    const parts: Record<string, string> = { version, title: renderer.title, style, menu, content };
    files[name] = template.replace(/\{(\w+)\}/g, (_, part) => String(parts[part]));
  }
  await writeFile(into, brotliCompressSync(JSON.stringify(files)));
}

/** The links of the first page to whole pages, below their headings. */
function menuOf(list: string, current: string): string {
  const groups = list.split(/^## /m).map((group) => {
    const [title = "", ...lines] = group.split("\n");
    const items = lines.flatMap((line) => {
      const [, words, file = ""] = /^- \[([^\]]+)\]\(([\w./-]+\.md)\)/.exec(line) ?? [];
      const page = pageOfFile(`docs/${file}`);
      const mark = page === current ? ' aria-current="page"' : "";
      return page === undefined ? [] : `<li><a href="${page}"${mark}>${words}</a></li>`;
    });
    return items.length === 0
      ? ""
      : `<h2 class="small muted">${title}</h2><ul class="views">${items.join("")}</ul>`;
  });
  return groups.join("");
}

/** The name of the page of a file, by its path from the root; `undefined` if it is no page. */
function pageOfFile(path: string): string | undefined {
  const file = path.replace("docs/../", "");
  const [, nameInDocs] = /^docs\/([\w-]+)\.md$/.exec(file) ?? [];
  if (nameInDocs !== undefined) return nameInDocs;
  return Object.keys(pagesOfRoot).find((name) => pagesOfRoot[name] === file);
}

/** Renders one page. Throws for HTML in its Markdown. */
class PageRenderer extends Renderer {
  title = "";
  readonly #anchors = new Map<string, number>();

  constructor(readonly page: string) {
    super();
  }

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    const title = text.replaceAll("`", "");
    if (depth === 1) this.title = title;
    return `<h${depth} id="${this.#anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  /** As the hosts of Markdown make it. */
  #anchorOf(heading: string): string {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
    const before = this.#anchors.get(anchor) ?? 0;
    this.#anchors.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  }

  override link({ href, tokens, ...link }: Tokens.Link): string {
    const [, file = "", anchor = ""] = /^([^#]*)(.*)$/.exec(href) ?? [];
    const folder = this.page in pagesOfRoot ? "" : "docs/";
    if (file === openApiFile) return super.link({ ...link, tokens, href });
    const page = file === "" ? "" : pageOfFile(folder + file);
    if (page !== undefined) return super.link({ ...link, tokens, href: `${page}${anchor}` });
    // The repository may be elsewhere, and its other folders are not served.
    const isElsewhere = /^https:/.test(href) && !href.startsWith(project.homepage.replace(/#.*/, ""));
    return isElsewhere ? super.link({ ...link, tokens, href }) : this.parser.parseInline(tokens);
  }

  override image({ href, ...image }: Tokens.Image): string {
    return super.image({ ...image, href: href.replace(/^(?:docs\/)?images\//, "") });
  }

  override table(token: Tokens.Table): string {
    // A narrow window shows a row as a block: each cell repeats the name of its column.
    const columns = token.header.map(({ text }) => text.replace(/[`"<&]/g, ""));
    let column = 0;
    const cells = super.table(token).replace(/<td/g, () => {
      const name = columns[column % columns.length];
      column += 1;
      return name === "" ? "<td" : `<td data-column="${name}"`;
    });
    // A wide one scrolls, which requires focus for keyboard users.
    return `<div class="table" tabindex="0" role="group" aria-label="Table">${cells}</div>\n`;
  }

  override html({ raw }: Tokens.HTML | Tokens.Tag): string {
    if (/^<!--.*-->\s*$/s.test(raw)) return "";
    throw new Error(`The page ${this.page} has HTML, which its page would run or hide: ${raw}`);
  }
}
