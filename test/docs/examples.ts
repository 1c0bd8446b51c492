/** Modules by the names under which examples import them. */
export type Modules = Readonly<Record<string, object>>;

/** The examples of a source file's doc comments, each with the name of what is documented. */
export function docExamples(source: string): { readonly title: string; readonly code: string }[] {
  const comments = source.matchAll(
    /\/\*\*((?:(?!\*\/)[\s\S])*?)@example\n((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export (?:async )?\w+ (\w+)|<const)/g,
  );
  return [...comments].map(({ 2: example = "", 3: name, index }) => ({
    title: name ?? signedFunction(source.slice(0, index)),
    code: example.replace(/^ +\* ?/gm, "").trim(),
  }));
}

/** The function of a signature, by the interface that begins last in a source: `createSandbox` for `CreateSandbox`. */
function signedFunction(source: string): string {
  const [, first = "", rest = ""] = /.*export interface (\w)(\w+)/s.exec(source) ?? [];
  return first.toLowerCase() + rest;
}

/**
 * Runs an example and checks its comments: `expression; // value` fails when the value is another, and
 * `expression; // throws code` when nothing, or something else, is thrown. Returns how many such comments there were.
 */
export async function runExample(code: string, modules: Modules, given: Modules = {}): Promise<number> {
  let claims = 0;
  const check = (line: string, found: unknown, expected: unknown) => {
    claims += 1;
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one !== other) throw new Error(`${line} … but it is ${one}`);
  };
  const checkThrows = async (line: string, act: () => unknown, expected: string) => {
    claims += 1;
    let said = "nothing was thrown";
    try {
      await act();
    } catch (error) {
      said = (error as { code?: string }).code ?? String(error);
    }
    if (said !== expected) throw new Error(`${line} … but ${said}`);
  };
  const names = ["modules", "check", "checkThrows", ...Object.keys(given)];
  const values = [modules, check, checkThrows, ...Object.values(given)];
  const run = new AsyncFunction(...names, claimsChecked(importsBound(code)));
  await run(...values);
  return claims;
}

const AsyncFunction = (async () => {}).constructor as new (
  ...parameters: string[]
) => (...values: unknown[]) => Promise<unknown>;

function importsBound(code: string): string {
  return code.replace(
    /^import (\{[^}]*\}|\w+) from "([^"]+)";$/gm,
    (_all, names: string, name: string) =>
      `const ${names.startsWith("{") ? names : `{ default: ${names} }`} = modules[${JSON.stringify(name)}];`,
  );
}

/**
 * The code of an example that also compares each comment that shows what comes of a line. An expression ends with its
 * line, and begins with it or with the line that opened its outermost bracket.
 */
export function claimsChecked(code: string): string {
  return code
    .replace(
      /^( *)(\S.*); \/\/ throws (\w+)$/gm,
      (line, indent: string, expression: string, thrown: string) =>
        `${indent}await checkThrows(${JSON.stringify(line)}, async () => ${expression}, ${JSON.stringify(thrown)});`,
    )
    .replace(
      /^( *)((?!const |return |\/\/|\}|await )\S(?:.*|.*\n(?: .*\n)+\}\).*?)); \/\/ (-?\d.*|".*"|\[.*\]|\{.*\}|true|false|null)$/gm,
      (all, indent: string, expression: string, value: string) =>
        `${indent}check(${JSON.stringify(all)}, ${expression}, ${value});`,
    );
}
