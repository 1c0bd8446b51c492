import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { marked } from "marked";
import { rolldown } from "rolldown";
import { layout } from "./site/layout.js";
import { type Page, readPages } from "./site/pages.js";
import { placesOf, renderPage } from "./site/render.js";
import { searchIndexOf } from "./site/search-index.js";

export interface SiteOptions {
  readonly root: string;
  readonly into: string;
  /** Whether the site gets the pictures and the decisions, and its links to files of the project are checked. A package has neither. */
  readonly isWhole: boolean;
}

/**
 * Builds the pages of a project into a site of plain files; returns the modules in its search. Throws with every dead link.
 */
export async function buildSite({ root, into, isWhole }: SiteOptions): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const all = readPages(root);
  // Decisions are for contributors, who have the project.
  const pages = isWhole ? all : all.filter(({ source }) => !source.startsWith("docs/decisions"));
  const read = pages.map((page) => {
    const tokens = marked.lexer(page.text);
    return { page, tokens, places: placesOf(tokens) };
  });
  const anchors = new Map(read.map(({ page, places }) => [page.source, places.map(({ id }) => id)]));
  const problems: string[] = [];
  const site = { root, pages, anchors, isWhole, report: (problem: string) => problems.push(problem) };
  const files = read.map(({ page, tokens, places }) => {
    const content = renderPage(page, tokens, site);
    return [page.file, layout({ page, pages, places, content, version })] as const;
  });
  if (problems.length > 0) throw new Error(`The pages have dead links:\n${problems.join("\n")}`);
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  const own = join(root, "scripts/site");
  const shared = ["tokens.css", "base.css"].map((name) => join(root, "src/dashboard/styles", name));
  const styles = [...shared, join(own, "style.css")];
  const resolve = { extensionAlias: { ".js": [".ts", ".js"] } };
  const bundled = await rolldown({ input: join(own, "search.ts"), platform: "browser", resolve });
  const [{ output }] = await Promise.all([
    bundled.write({ file: join(into, "search.js"), format: "iife", minify: true }),
    ...files.map(([file, text]) => writeFile(join(into, file), text)),
    writeFile(join(into, "llms.txt"), await llmsText(root, pages)),
    writeFile(join(into, "search-index.js"), `searchIndex = ${JSON.stringify(searchIndexOf(read))};\n`),
    writeFile(join(into, "style.css"), (await Promise.all(styles.map((file) => readFile(file)))).join("\n")),
    cp(join(root, "src/dashboard/icon.svg"), join(into, "icon.svg")),
    isWhole && cp(join(root, "docs/images"), join(into, "images"), { recursive: true }),
  ]);
  await bundled.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/** The pages in Markdown with their sizes, for agents (https://llmstxt.org). */
async function llmsText(root: string, pages: readonly Page[]): Promise<string> {
  const agents = await readFile(join(root, "AGENTS.md"), "utf8");
  const size = (text: string) => `${(Buffer.byteLength(text) / 1000).toFixed(1)} kB`;
  const lines = [
    ...["# svc-sandbox", ""],
    "> An offline sandbox of the relying-party API. Read AGENTS.md first, and a page only when you need it.",
    ...["", `- [For coding agents](AGENTS.md): ${size(agents)}`],
  ];
  let last = "";
  for (const { source, label, group = "", text } of pages) {
    if (!/^docs\/[\w-]+\.md$/.test(source) || source === "docs/README.md") continue;
    if (group !== last) lines.push("", `## ${group}`, "");
    last = group;
    lines.push(`- [${label}](${source.slice("docs/".length)}): ${size(text)}`);
  }
  return `${lines.join("\n")}\n`;
}

// `npm run docs:site`: with the pictures, to be put on any server or opened from its folder.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  await buildSite({ root, into: join(root, "site"), isWhole: true });
  console.log("The site is built: open site/index.html.");
}
