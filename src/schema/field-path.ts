/** The path of a field: names in mappings and positions in lists. */
export type FieldPath = readonly (string | number)[];

/** A longer name is cut in the text of a path: each problem inside shows it again. */
const longestNameInPath = 200;

/** A path as text: `organizations.bank.keys.main.scopes[1]`. */
export function pathText(path: FieldPath): string {
  let text = "";
  for (const [index, step] of path.entries()) {
    if (typeof step === "number") {
      text += `[${step}]`;
      continue;
    }
    if (index > 0) text += ".";
    text += step.length > longestNameInPath ? `${step.slice(0, longestNameInPath)}…` : step;
  }
  return text;
}

/** The part of a value at a path; `undefined` if it has none. */
export function valueAt(whole: unknown, path: FieldPath): unknown {
  let part = whole;
  for (const step of path) {
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as Record<string | number, unknown>)[step]; // it has this member
  }
  return part;
}
