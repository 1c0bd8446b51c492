import { snakeCase } from "../api/snake-case.js";
import type { CheckReport } from "./report.js";

/** The report as one JSON document, with a line end. */
export function asJson(report: CheckReport): string {
  const { lessons, assumptions, stopped = null, ...rest } = report;
  const learned = Object.fromEntries(
    lessons.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]),
  );
  const open = lessons.filter(({ value }) => value === undefined);
  const plain = {
    ...(snakeCase({ ...rest, stopped }) as object),
    learned,
    not_learned: Object.fromEntries(open.map(({ name, because }) => [name, because])),
    assumptions_yaml: assumptions,
  };
  return `${JSON.stringify(plain, null, 2)}\n`;
}
