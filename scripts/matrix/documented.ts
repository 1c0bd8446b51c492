import { readFileSync } from "node:fs";

const page = readFileSync(new URL("../../docs/test-runners.md", import.meta.url), "utf8");

/** The first JavaScript of `docs/test-runners.md` under a heading. Throws when there is none. */
export function documentedCode(heading: string): string {
  const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const code = /^```js\n([\s\S]*?)^```$/m.exec(section)?.[1];
  if (code === undefined) throw new Error(`docs/test-runners.md: no JavaScript under ${heading}`);
  return code;
}
