import type { Finding } from "./finding.js";
import { forbiddenNames, nameFinding } from "./forbidden-names.js";
import { type Located, type LocatedMapping, maximumDepth, type Path } from "./located.js";
import { quote } from "./quote.js";

/** How many values a scenario given as an object may have, unless its giver is trusted with more. */
const maximumValues = 100_000;

/**
 * Reads an object as a YAML text would be read: plain data only, its own members only, members set to `undefined`
 * left out. Does not change it.
 *
 * What is wrong is added to `findings`; parts that are wrong are left out of the answer. Never throws.
 */
export function readPlain(
  value: unknown,
  findings: Finding[],
  mostValues = maximumValues,
): LocatedMapping | undefined {
  let values = 0;
  const root = read(value, []);
  if (root?.kind === "mapping") return root;
  if (root !== undefined) {
    const message = `a scenario is a mapping of fields, found ${quote(value)}`;
    findings.push({ code: "not_a_mapping", path: [], message, hint: "pass an object with version: 1" });
  }
  return undefined;

  function read(part: unknown, path: Path): Located | undefined {
    values += 1;
    if (values === mostValues) report("too_large", path, "the scenario has too many parts");
    if (values >= mostValues) return undefined;
    if (path.length > maximumDepth) {
      return report("too_deep", path, `nested deeper than ${maximumDepth} levels, or inside itself`);
    }
    if (part === null || typeof part === "string" || typeof part === "number" || typeof part === "boolean") {
      return { kind: "scalar", value: part };
    }
    if (Array.isArray(part)) {
      const items = part.map((item, index) => read(item, [...path, index]));
      return { kind: "list", items: items.filter((item) => item !== undefined) };
    }
    if (isPlainObject(part)) return readMembers(part, path);
    const found = part instanceof Date ? "a Date" : `a value of type ${typeof part}`;
    const hint =
      part instanceof Date ? "pass its toISOString()" : "pass text, numbers, booleans, lists, objects";
    return report("not_plain_data", path, `not plain data: found ${found}`, hint);
  }

  function readMembers(part: object, path: Path): LocatedMapping {
    const members = new Map<string, Located>();
    for (const [name, member] of Object.entries(part)) {
      const inner = [...path, name];
      if (forbiddenNames.has(name)) findings.push(nameFinding(inner, name));
      else if (member !== undefined) {
        const located = read(member, inner);
        if (located !== undefined) members.set(name, located);
      }
    }
    return { kind: "mapping", members };
  }

  function report(code: Finding["code"], path: Path, message: string, hint?: string): undefined {
    findings.push({ code, path, message, hint });
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (an iframe, a vm context, a test runner) have an Object.prototype of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
