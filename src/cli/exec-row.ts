import type { Argument, CommandRow } from "./command.js";

/** The command `exec`, which takes the same scenarios as `start`. */
export const execRow = (scenario: Argument): CommandRow => ({
  name: "exec",
  summary: "run a command against a sandbox, and report which error paths its client has met",
  description:
    "Serves a scenario on a free port, runs the command with SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL in its environment, stops, and says on stderr (not with --quiet) which of the ways in which a request can end its client has met. stdin and stdout are the command's own. Exits with the command's code; with 1 when that is 0 and --min-coverage or --strict does not hold. The command is run without a shell: write sh -c '…' for one.",
  words: [scenario],
  rest: "<command...>",
  flags: [
    "report",
    "reportFormat",
    "minCoverage",
    "strict",
    "execPort",
    "host",
    "seed",
    "now",
    "frozen",
    "profile",
    "explain",
    "handlers",
    "noControl",
    "controlToken",
    "instanceTtl",
    "tls",
    "cert",
    "key",
    "execLog",
    "noColor",
    "quiet",
    "verbose",
  ],
  examples: [
    { line: "svc-sandbox exec -- npm test", does: "any command that reads SVC_BASE_URL" },
    { line: "svc-sandbox exec bad-day -- python3 -m pytest", does: "in another scenario" },
    { line: "svc-sandbox exec --min-coverage 80 --strict -- npm test", does: "as a gate" },
    {
      line: "svc-sandbox exec --report errors.md --report errors.xml -- npm test",
      does: "for CI: Markdown and JUnit",
    },
  ],
  load: async () => (await import("./commands/exec.js")).exec,
});
