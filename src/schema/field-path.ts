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
