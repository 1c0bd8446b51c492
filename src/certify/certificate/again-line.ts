import { rerunCommand } from "../../report/curl-line.js";
import type { Finding } from "../checks/judgment.js";

/** How the user starts svc-sandbox, with the scenario if it was given. */
export interface Program {
  readonly program?: string;
  readonly scenario?: string | undefined;
}

/** The command that shows a problem again. */
export function againLine(
  { again: [by = "exec", ...flags] }: Pick<Finding, "again">,
  command: readonly string[],
  { program, scenario }: Program,
): string {
  const words = scenario === undefined ? flags : [scenario, ...flags];
  return rerunCommand(by, words, command, program);
}
