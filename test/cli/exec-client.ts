import { expect } from "vitest";
import { parseReport } from "../../src/report/report-shape.js";
import { type RunOptions, runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/**
 * Sends a request for each of its words: with the key of a ref, without one (`none`), with the key in the query
 * (`?ref`), to another path (`/path`), or to a path of the control plane (`POST:/reset`). Ends with the code that the word `exit:3` says.
 */
const clientCode = `
me=$SVC_BASE_URL/v1/relying-party/me
send() { curl -s -o answer "$@"; }
for word in "$@"; do
  key=$(printenv "SVC_KEY_$(echo "\${word#\\?}" | tr a-z- A-Z_)")
  case $word in
    exit:*) code=\${word#*:} ;;
    [A-Z]*:*) send -X "\${word%%:*}" -H content-type:application/json "$SVC_CONTROL_URL\${word#*:}" ;;
    \\?*) send "$me?key=$key" ;;
    /*) send "$SVC_BASE_URL$word" ;;
    none) send "$me" ;;
    *) send -H "x-api-key: $key" "$me" ;;
  esac
done
exit "\${code:-0}"
`;

/** A folder with the client that the tests of `exec` run, and these files. */
export function clientFolder(files: Readonly<Record<string, string>> = {}): string {
  return temporaryFolder({ "client.sh": clientCode, ...files });
}

/** The command line of the client. */
export function client(...words: string[]): string[] {
  return ["/bin/sh", "client.sh", ...words];
}

/** Starts the built `svc-sandbox exec`, by default in a folder with the client alone. */
export function startExec(argv: readonly string[], options: Parameters<typeof startBin>[1] = {}) {
  return startBin(["exec", ...argv], { cwd: clientFolder(), ...options });
}

/** Runs the built `svc-sandbox exec` to its end. */
export function runExec(argv: readonly string[], options: Parameters<typeof startBin>[1] = {}) {
  return startExec(argv, options).ended;
}

/** The report in a text that is only JSON. */
export function reportIn(text: string) {
  const json = JSON.parse(text);
  expect(parseReport(json)).toBeDefined();
  return json;
}

interface Row {
  readonly outcome: string;
  readonly promised: boolean;
  readonly covered: boolean;
  readonly how_to_cover: { readonly ref: string };
}

/** The outcomes that a report in JSON shows as not covered, each with its key. */
export function missedIn({ outcomes }: { readonly outcomes: readonly Row[] }): Record<string, string> {
  const missed = outcomes.filter(({ promised, covered }: Row) => promised && !covered);
  return Object.fromEntries(missed.map(({ outcome, how_to_cover }: Row) => [outcome, how_to_cover.ref]));
}

/** Runs `exec` in this process, for tests that do not read what its command prints. */
export function execHere(argv: readonly string[], { env = {}, ...options }: RunOptions = {}) {
  const { PATH = "" } = process.env;
  return runCli(["exec", ...argv], { cwd: clientFolder(), env: { PATH, ...env }, ...options });
}
