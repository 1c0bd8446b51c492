import { runCli } from "./run-cli.js";
import { temporaryFolder } from "./temporary-folder.js";

/** What tests read of a certificate. */
export interface Certificate {
  readonly verdict: string;
  readonly why?: string;
  readonly runs: number;
  readonly problems: readonly {
    readonly name: string;
    readonly row?: string;
    readonly sentence: string;
    readonly again: readonly string[];
  }[];
  readonly checks: readonly {
    readonly name: string;
    readonly result: string;
    readonly why?: string;
    readonly what_to_do?: string;
  }[];
  readonly assumptions?: readonly string[];
  readonly notes: readonly { readonly what: string; readonly why: string }[];
}

/** Certifies a command in this process, in an empty folder. */
export async function certify(command: readonly string[], ...flags: string[]) {
  const argv = ["certify", "--format", "json", ...flags, "--", ...command];
  const ran = await runCli(argv, { cwd: temporaryFolder() });
  return { ...ran, ...(JSON.parse(ran.stdout) as Certificate) };
}
