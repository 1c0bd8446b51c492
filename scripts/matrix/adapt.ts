import type { Format, Runner } from "./cells.js";

/** The text of a test file of `test/matrix`, as it has to be for a format and a runner. */
export function adapt(text: string, format: Format, runner: Runner): string {
  const named = text.replace('import { test } from "node:test";\n', importOfTest(runner));
  return format === "esm" ? named : withRequire(named);
}

/** The end of a test file's name, by which the runner knows it. */
export function endingFor(format: Format, runner: Runner): string {
  if (format === "esm") return ".test.mjs";
  // Jest takes `.js` for CommonJS unless it is told otherwise.
  return runner === "jest" ? ".test.js" : ".test.cjs";
}

function importOfTest(runner: Runner): string {
  // Jest's `test` is a global one; Bun and Deno have that of Node.
  if (runner === "jest") return "";
  return `import { test } from "${runner === "vitest" ? "vitest" : "node:test"}";\n`;
}

function withRequire(text: string): string {
  return text
    .replace(/^import \{ (.+) \} from (".+");$/gm, (_line, names: string, from) => {
      return `const { ${names.replaceAll(" as ", ": ")} } = require(${from});`;
    })
    .replace(/^import (\w+) from (".+");$/gm, "const $1 = require($2);");
}
