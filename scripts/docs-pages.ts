import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Marked, Renderer, type Tokens } from "marked";
import project from "../package.json" with { type: "json" };
import { root } from "./run-program.js";

const fromRoot = (path: string) => readFile(join(root, path), "utf8");

/** The Markdown of each page of docs/, by the name of its file. */
type Pages = ReadonlyMap<string, string>;

/** Writes the pages of docs/ as HTML into one file, by name, with their style sheet. They share that of the built dashboard. */
export async function buildDocs(into: string): Promise<void> {
  const pages = new Map<string, string>();
  for (const file of (await readdir(join(root, "docs"))).sort()) {
    if (file.endsWith(".md")) pages.set(file.replace(/\.md$/, ""), await fromRoot(`docs/${file}`));
  }
  const assets = await readdir(join(root, "dist/dashboard/assets"));
  const style = String(assets.find((name) => name.endsWith(".css.br"))).replace(/\.br$/, "");
  const template = await fromRoot("src/dashboard/docs.html");
  const files: Record<string, string> = { "docs.css": await fromRoot("src/dashboard/styles/docs.css") };
  for (const [name, text] of pages) {
    const renderer = new PageRenderer(name, pages);
    const content = new Marked().parse(text, { renderer, async: false });
    const menu = menuOf(String(pages.get("README")), name);
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
      const [, words, page] = /^- \[([^\]]+)\]\(([\w-]+)\.md\)/.exec(line) ?? [];
      const mark = page === current ? ' aria-current="page"' : "";
      return page === undefined ? [] : `<li><a href="${page}"${mark}>${words}</a></li>`;
    });
    return items.length === 0
      ? ""
      : `<h2 class="small muted">${title}</h2><ul class="views">${items.join("")}</ul>`;
  });
  return groups.join("");
}

/** Renders one page. Throws for HTML in its Markdown. */
class PageRenderer extends Renderer {
  title = "";
  readonly #anchors = new Map<string, number>();

  constructor(
    readonly page: string,
    readonly pages: Pages,
  ) {
    super();
  }

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    if (depth === 1) this.title = text;
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
    const [, page, anchor = ""] = /^([\w-]*)(?:\.md)?(#.*)?$/.exec(href) ?? [];
    if (page === "" || this.pages.has(String(page))) {
      return super.link({ ...link, tokens, href: `${page}${anchor}` });
    }
    // The repository may be elsewhere, and its other folders are not served.
    const isElsewhere = /^https:/.test(href) && !href.startsWith(project.homepage.replace(/#.*/, ""));
    return isElsewhere ? super.link({ ...link, tokens, href }) : this.parser.parseInline(tokens);
  }

  override image({ href, ...image }: Tokens.Image): string {
    return super.image({ ...image, href: href.replace(/^images\//, "") });
  }

  override table(token: Tokens.Table): string {
    // A wide one scrolls, which requires focus for keyboard users.
    return `<div class="table" tabindex="0" role="group" aria-label="Table">${super.table(token)}</div>\n`;
  }

  override html({ raw }: Tokens.HTML | Tokens.Tag): string {
    if (/^<!--.*-->\s*$/s.test(raw)) return "";
    throw new Error(`docs/${this.page}.md has HTML, which its page would run or hide: ${raw}`);
  }
}
