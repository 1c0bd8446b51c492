import { Marked, type Tokens } from "marked";
import { repository, version } from "../../node/package-files.js";

// A page of the documentation, made from the Markdown in the package when somebody asks for it.

/** The pages beside `docs/`. The page `index` is `docs/README.md`, which lists all others. */
const topPages = ["README", "AGENTS", "CHANGELOG", "SECURITY"];

/** The file of a page, from the package's folder. */
export function markdownFileOf(page: string): string {
  if (topPages.includes(page)) return `${page}.md`;
  return page === "index" ? "docs/README.md" : `docs/${page}.md`;
}

const filesOfVersion = `${repository}/blob/v${version}/`;

/** The address of what a link of a page means. What the sandbox does not serve is in the repository. */
function addressOf(link: string, page: string): string {
  // The README of the package has the addresses of the repository.
  const { href, origin, pathname, hash } = new URL(
    link.replace(filesOfVersion, ""),
    `file:///${markdownFileOf(page)}`,
  );
  if (origin !== "null") return href;
  const [, folder = "", name = ""] = /^\/(docs\/)?(\w[\w-]*)\.md$/.exec(pathname) ?? [];
  if (folder === "" && !topPages.includes(name)) return filesOfVersion + pathname.slice(1) + hash;
  return `${folder !== "" && name === "README" ? "./" : `${name}.html`}${hash}`;
}

/** A heading's anchor, as the hosts of Markdown give it. */
function anchorOf(title: string): string {
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "");
  return words.replaceAll(" ", "-");
}

/** A whole page without scripts and other files. The dashboard links to its headings, and to rows that start with a code. */
export function renderDocs(page: string, markdown: string): string {
  const used = new Map<string, number>();
  const newAnchor = (title: string) => {
    const anchor = anchorOf(title);
    const before = used.get(anchor) ?? 0;
    used.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const id = newAnchor(this.parser.parseInline(tokens, this.parser.textRenderer));
        return `<h${depth} id="${id}">${text}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${addressOf(href, page)}">${this.parser.parseInline(tokens)}</a>`;
      },
      // The package has no pictures.
      image: () => "",
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
      table({ header, rows }) {
        const textOf = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        const head = header.map((cell) => (cell.text === "" ? "<td></td>" : `<th>${textOf(cell)}</th>`));
        const body = rows.map((cells) => {
          const [, code] = /^`([\w.-]+)`$/.exec(cells[0]?.text ?? "") ?? [];
          const id = code === undefined ? "" : ` id="${anchorOf(header[0]?.text ?? "")}-${code}"`;
          return `<tr${id}>${cells.map((cell) => `<td>${textOf(cell)}</td>`).join("")}</tr>`;
        });
        const inside = `<thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody>`;
        // Wide tables can also be scrolled with the keyboard.
        return `<div tabindex="0"><table>${inside}</table></div>\n`;
      },
    },
  });
  const [, title = page] = /^# (.+)$/m.exec(markdown) ?? [];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title.replaceAll("`", ""))} · svc-sandbox ${version}</title>
<style>
${style}</style>
</head>
<body>
<nav><a href="./">All pages</a></nav>
<main>
${marked.parse(markdown, { async: false })}</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const style = `:root { color-scheme: light dark; background: Canvas; --line: #8888; }
body { max-width: 62rem; margin: 0 auto; padding: 1rem; font: 1rem/1.55 system-ui, sans-serif; }
main { overflow-wrap: anywhere; }
pre, div { overflow-x: auto; }
pre { border: 1px solid var(--line); padding: 0.7rem; }
code { font: 0.88rem ui-monospace, monospace; }
table { border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
tr:target, :is(h2, h3):target { outline: 2px solid; }
`;
