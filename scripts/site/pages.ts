import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** A page of the site, before it is rendered. */
export interface Page {
  /** The Markdown that it is made from, as a path in the project; links in it are relative to that. */
  readonly source: string;
  /** Its file in the site, which has no folders. */
  readonly file: string;
  readonly label: string;
  /** The group in the sidebar; `undefined` for pages that only others link to. */
  readonly group?: string | undefined;
  readonly text: string;
}

/**
 * The pages in the order of docs/README.md, whose headings are the groups of the sidebar. A page that it does not name
 * comes last, under "More".
 */
export function readPages(root: string): Page[] {
  const pageOf = (source: string, given: Partial<Page> = {}): Page => {
    const text = given.text ?? readFileSync(join(root, source), "utf8");
    return { source, file: fileOf(source), label: titleOf(text), text, ...given };
  };
  const pagesIn = (folder: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => pageOf(`${folder}/${name}`));
  let group: string | undefined;
  const entries = pageOf("docs/README.md").text.matchAll(/^## (.+)$|^- \[([^\]]+)\]\(([^)]+)\)/gm);
  const listed = [...entries].flatMap(([, heading, label = "", target = ""]) => {
    group = heading ?? group;
    const source = posix.join("docs", target);
    // Pages for contributors are in the project, not in the package.
    if (heading !== undefined || source === "CONTRIBUTING.md" || !existsSync(join(root, source))) return [];
    return pageOf(source, { label, group });
  });
  const isListed = ({ source }: Page) => listed.some((one) => one.source === source);
  const others = pagesIn("docs").filter((page) => page.source !== "docs/README.md" && !isListed(page));
  const decisions = pagesIn("docs/decisions").filter((page) => !isListed(page));
  const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => pageOf(`examples/${name}/README.md`));
  return [...listed, ...others.map((page) => ({ ...page, group: "More" })), ...decisions, ...examples];
}

export function titleOf(text: string): string {
  return (/^# (.+)$/m.exec(text)?.[1] ?? "").replaceAll("`", "");
}

/** The file of `docs/errors.md` is `errors.html`, of `examples/go/README.md` `examples-go.html`; the project's README is the start page. */
function fileOf(source: string): string {
  if (source === "README.md") return "index.html";
  const readme = /^(.+)\/README\.md$/.exec(source)?.[1];
  return `${readme?.replace("docs/", "").replaceAll("/", "-") ?? posix.basename(source, ".md").toLowerCase()}.html`;
}
