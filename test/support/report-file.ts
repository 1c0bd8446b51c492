import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Row {
  readonly covered: boolean;
  readonly outcome: string;
}

/** The requests and the covered outcomes of the report in a folder. */
export function reportedIn(cwd: string): { readonly requests: number; readonly covered: readonly string[] } {
  const { requests, outcomes } = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8"));
  const covered = (outcomes as Row[]).flatMap((row) => (row.covered ? row.outcome : []));
  return { requests, covered };
}
