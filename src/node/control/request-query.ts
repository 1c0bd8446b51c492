import { SandboxError } from "../../domain/errors.js";
import { outcomes } from "../../domain/outcomes.js";
import type { JournalQuery } from "../../sandbox/journal.js";
import { nearest, quote } from "../../scenario/problems/words.js";

const paths: readonly string[] = outcomes.map(({ path }) => path);

function unknownPath(given: string): string {
  const meant = nearest(given, paths);
  return `is no path id${meant === undefined ? "" : `; did you mean ${quote(meant)}?`}`;
}

type Query = Readonly<Record<string, unknown>>;

const known = ["limit", "path_id", "key"];

/** Which entries of the journal a query asks for; throws `validation_failed`. */
export function requestQuery(query: Query): JournalQuery {
  for (const name of Object.keys(query)) {
    if (!known.includes(name)) throw invalid(name, `is not a parameter; there are ${known.join(", ")}`);
  }
  const limit = limitOf(query);
  const pathId = textOf(query, "path_id");
  if (pathId !== undefined && !paths.includes(pathId)) throw invalid("path_id", unknownPath(pathId));
  const key = textOf(query, "key");
  return {
    ...(limit !== undefined && { limit }),
    ...(pathId !== undefined && { pathId }),
    ...(key !== undefined && { key }),
  };
}

function limitOf(query: Query): number | undefined {
  const text = textOf(query, "limit");
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) throw invalid("limit", "must be a whole number");
  return Number(text);
}

function textOf(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value !== undefined && typeof value !== "string") throw invalid(name, "was given more than once");
  return value;
}

function invalid(field: string, problem: string): SandboxError {
  return new SandboxError("validation_failed", `The query is not valid: ${field} ${problem}.`, {
    fields: { [field]: problem },
  });
}
