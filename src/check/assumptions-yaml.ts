import type { Lesson } from "./learn.js";

const widest = 60;

/** What was learned as an `assumptions:` block for a scenario; what was not learned stands in comments. */
export function assumptionsYaml(lessons: readonly Lesson[]): string {
  const learned = lessons.filter(({ value }) => value !== undefined);
  const open = lessons.filter(({ value }) => value === undefined);
  const written = learned.map(({ name, value }) => `  ${name}: ${yamlOf(value)}`);
  const width = Math.min(widest, Math.max(0, ...written.map((line) => line.length)));
  const reasons = [...new Set(open.map(({ because }) => because))];
  return [
    `assumptions:${learned.length === 0 ? " {}" : ""}`,
    ...written.map((line, index) => `${line.padEnd(width)}  # ${learned[index]?.because}`),
    ...reasons.map((reason) => {
      const names = open.filter(({ because }) => because === reason).map(({ name }) => name);
      return `  # not learned: ${names.join(", ")} (${reason})`;
    }),
    "",
  ].join("\n");
}

function yamlOf(value: Lesson["value"]): string {
  if (Array.isArray(value)) return `[${value.map(yamlOf).join(", ")}]`;
  if (typeof value !== "string") return String(value);
  // Plain where it cannot be taken for anything else; `true` and `null` are such words, and so are some numbers.
  const isPlain =
    /^[a-z][a-z0-9_]*(?::[a-z][a-z0-9_]*)*$/.test(value) && !/^(?:true|false|null)$/.test(value);
  return isPlain ? value : JSON.stringify(value);
}
