import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import type { Page } from "./pages.js";

/** A heading, or a row of a table that starts with a code: both have an anchor, and can be found. */
export interface Place {
  readonly id: string;
  readonly title: string;
  /** The level of a heading; `undefined` for a row. */
  readonly level: number | undefined;
  /** All text up to the next place. */
  text: string;
}

/** The places of a page. Headings have the anchors that the hosts of Markdown give them; rows have their own. */
export function placesOf(tokens: readonly Token[]): Place[] {
  const places: Place[] = [];
  const used = new Map<string, number>();
  const add = (slug: string, title: string, text: string, level?: number) => {
    const before = used.get(slug) ?? 0;
    used.set(slug, before + 1);
    places.push({ id: before === 0 ? slug : `${slug}-${before}`, title, level, text });
  };
  for (const token of tokens) {
    const last = places.at(-1);
    if (token.type === "heading") {
      const title = token.text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
      add(slugOf(title), title, title, token.depth);
    }
    const { header = [], rows = [] } = token.type === "table" ? (token as Tokens.Table) : {};
    const isOfCodes = rows.some(([first]) => first !== undefined && codeOf(first) !== undefined);
    if (token.type !== "heading" && last !== undefined && !isOfCodes) last.text += ` ${token.raw}`;
    for (const row of rows) {
      const code = codeOf(row[0]);
      if (code === undefined) continue;
      add(`${slugOf(header[0]?.text ?? "")}-${code}`, code, row.map(({ text }) => text).join(" "));
    }
  }
  return places;
}

function slugOf(title: string): string {
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "");
  return words.replaceAll(" ", "-");
}

function codeOf(cell: Tokens.TableCell | undefined): string | undefined {
  return /^`([\w.-]+)`$/.exec(cell?.text ?? "")?.[1];
}

export interface Site {
  readonly root: string;
  readonly pages: readonly Page[];
  /** The anchors of each page, by its source. */
  readonly anchors: ReadonlyMap<string, readonly string[]>;
  /** Whether pictures are part of the site, and files of the project that it links to are there. */
  readonly isWhole: boolean;
  /** Takes what is wrong with a page. */
  readonly report: (problem: string) => void;
}

/** The HTML of a page. Reports links that lead nowhere. */
export function renderPage(page: Page, tokens: readonly Token[], site: Site): string {
  const places = placesOf(tokens);
  const headings = places.filter(({ level }) => level !== undefined).values();
  const rows = places.filter(({ level }) => level === undefined).values();

  /** The address in the site of what a link means; `undefined` for a file that is not part of it. */
  function hrefOf(link: string): string | undefined {
    if (/^[a-z]+:/.test(link)) return link;
    const [path = "", anchor] = link.split("#");
    const source = path === "" ? page.source : posix.join(posix.dirname(page.source), path);
    const target = site.pages.find((one) => one.source === source || one.source === `${source}/README.md`);
    if (target === undefined) {
      const isMissed = site.isWhole && !existsSync(join(site.root, source));
      if (isMissed) site.report(`${page.source}: there is no ${link}`);
      return undefined;
    }
    if (anchor === undefined) return target.file;
    if (site.anchors.get(source)?.includes(anchor) !== true)
      site.report(`${page.source}: there is no #${anchor} in ${source}`);
    return `${target === page ? "" : target.file}#${anchor}`;
  }

  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const { id = "" } = headings.next().value ?? {};
        const link = `<a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${depth === 1 ? "" : link}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const to = hrefOf(href);
        return to === undefined
          ? `<span title="In the project: ${href}">${text}</span>`
          : `<a href="${to}">${text}</a>`;
      },
      image({ href, text }) {
        const file = posix.join(posix.dirname(page.source), href);
        if (site.isWhole && !existsSync(join(site.root, file)))
          site.report(`${page.source}: there is no ${href}`);
        return site.isWhole ? `<img src="images/${posix.basename(file)}" alt="${text}" loading="lazy">` : "";
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      html({ text }) {
        return text.startsWith("<!--") ? "" : text;
      },
      table({ header, rows: lines }) {
        const textOf = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        const head = header.map(textOf).map((text) => (text === "" ? "<td></td>" : `<th>${text}</th>`));
        const body = lines.map(([first, ...others]) => {
          const cells = others.map((cell) => `<td>${textOf(cell)}</td>`).join("");
          const text = first === undefined ? "" : textOf(first);
          if (codeOf(first) === undefined) return `<tr><td>${text}</td>${cells}</tr>`;
          const { id = "" } = rows.next().value ?? {};
          return `<tr id="${id}"><td><a href="#${id}">${text}</a></td>${cells}</tr>`;
        });
        const table = `<thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody>`;
        return `<div class="table" tabindex="0"><table>${table}</table></div>\n`;
      },
    },
  });
  return marked.parser([...tokens]);
}

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text.replace(/[&<>"]/g, (sign) => `&${names[sign]};`);
}
