import { SandboxError } from "../../domain/sandbox-error.js";
import type { Journal, JournalEntry } from "../../sandbox/journal.js";

type Query = Readonly<Record<string, unknown>>;

const known = ["limit", "path_id", "key"];

/** The journal's entries that a query asks for, oldest first; throws `validation_failed`. */
export function listRequests(journal: Journal, query: Query): Record<string, unknown>[] {
  for (const name of Object.keys(query)) {
    if (!known.includes(name)) throw invalid(name, `is not a parameter; there are ${known.join(", ")}`);
  }
  const limit = limitOf(query);
  const pathId = textOf(query, "path_id");
  const key = textOf(query, "key");
  return journal
    .list({
      ...(limit !== undefined && { limit }),
      ...(pathId !== undefined && { pathId }),
      ...(key !== undefined && { key }),
    })
    .map(journalLine);
}

/** A journal entry as JSON outside this process spells it. */
export function journalLine(entry: JournalEntry): Record<string, unknown> {
  return {
    id: entry.id,
    at: new Date(entry.at).toISOString(),
    method: entry.method,
    path: entry.path,
    key: entry.key,
    fingerprint: entry.fingerprint,
    status: entry.status,
    code: entry.code,
    path_id: entry.pathId,
    duration_ms: Math.round(entry.durationMs * 1000) / 1000,
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
