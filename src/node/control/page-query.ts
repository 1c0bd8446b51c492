import { SandboxError } from "../../domain/errors.js";

/** A page of a list, as a query asks for it. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Which page a query asks for; throws `validation_failed`. */
export function pageQuery(
  query: Readonly<Record<string, unknown>>,
  { limit, mostOnAPage }: { limit: number; mostOnAPage: number },
): Page {
  for (const name of Object.keys(query)) {
    if (name !== "offset" && name !== "limit")
      throw invalid(name, "is not a parameter; there are offset, limit");
  }
  return {
    offset: countIn(query, "offset") ?? 0,
    limit: countIn(query, "limit", mostOnAPage) ?? limit,
  };
}

function countIn(
  query: Readonly<Record<string, unknown>>,
  name: string,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw invalid(name, "was given more than once");
  if (!/^\d{1,16}$/.test(text)) throw invalid(name, "must be a whole number");
  if (Number(text) > most) throw invalid(name, `must be ${most} or less`);
  return Number(text);
}

function invalid(field: string, problem: string): SandboxError {
  return new SandboxError("validation_failed", `The query is not valid: ${field} ${problem}.`, {
    fields: { [field]: problem },
  });
}
