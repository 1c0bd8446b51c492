import type { Report } from "./report.js";

/**
 * Reads a report that came as JSON, spelled as `GET /report` spells it; `undefined` for what is none.
 *
 * Members that it does not know are left in place: a newer sandbox may say more.
 */
export function parseReport(plain: unknown): Report | undefined {
  const report = camelCase(plain) as Partial<Report> | null | undefined;
  if (typeof report !== "object" || report === null) return undefined;
  const { scenario, requests, coverage, paths, advice } = report;
  const isReport =
    typeof scenario === "string" &&
    typeof requests === "number" &&
    typeof coverage?.percent === "number" &&
    isListOf(paths, "pathId") &&
    isListOf(advice, "id") &&
    advice.every(({ examples }) => isListOf(examples, "id"));
  return isReport ? (report as Report) : undefined;
}

function isListOf<Item>(list: readonly Item[] | undefined, member: keyof Item): list is readonly Item[] {
  return Array.isArray(list) && list.every((item: Item) => typeof item?.[member] === "string");
}

function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      camelCase(member),
    ]),
  );
}
