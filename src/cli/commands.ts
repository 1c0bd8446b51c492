import type { Argument, CommandRow } from "./command.js";
import { execRow } from "./exec-row.js";
import { fixturesRow } from "./fixtures-row.js";

const scenario: Argument = {
  spec: "[scenario]",
  text: "a bundled name or a file (default: svc-sandbox.yaml if it is there, else key-states)",
};

/** Every command. The first one runs when none is named. */
export const commands: readonly CommandRow[] = [
  {
    name: "start",
    summary: "serve a scenario until it is stopped (this runs when no command is named)",
    description:
      "Serves a scenario until SIGINT or SIGTERM. Prints, once requests are accepted, the addresses, the keys and what each one gets; then logs requests on stderr.",
    words: [scenario],
    flags: [
      "port",
      "host",
      "seed",
      "now",
      "frozen",
      "profile",
      "watch",
      "explain",
      "handlers",
      "envFile",
      "noControl",
      "controlToken",
      "instanceTtl",
      "state",
      "tls",
      "cert",
      "key",
      "log",
      "json",
      "quiet",
      "verbose",
    ],
    examples: [
      { line: "svc-sandbox", does: "every state of a key, on http://127.0.0.1:4747" },
      { line: "svc-sandbox revoked --port 0", does: "one bundled scenario, on any free port" },
      { line: "svc-sandbox ./my.yaml --watch", does: "a file of yours, loaded again when it changes" },
      { line: "svc-sandbox start --json --log off", does: "one line of JSON for a script, and nothing else" },
      {
        line: "svc-sandbox --handlers ./handlers.mjs",
        does: "endpoints of your own beside the API, made with msw",
      },
      { line: "svc-sandbox --state sandbox.json", does: "goes on after a restart where it stopped" },
      {
        line: "svc-sandbox --write-env .env.sandbox",
        does: "base URL and keys for your client's environment",
      },
    ],
    load: async () => (await import("./commands/start.js")).start,
  },
  execRow(scenario),
  {
    name: "list",
    summary: "list the bundled scenarios",
    description: "Lists the bundled scenarios, one line each.",
    words: [],
    flags: ["json", "verbose"],
    examples: [
      { line: "svc-sandbox list", does: "names and what each one shows" },
      { line: "svc-sandbox list --json", does: "the same for machines" },
    ],
    load: async () => (await import("./commands/list.js")).list,
  },
  {
    name: "show",
    summary: "print a scenario's YAML",
    description: "Prints the YAML of a scenario as it stands in its file.",
    words: [{ spec: "<scenario>", text: "a bundled name or a file" }],
    flags: ["verbose"],
    examples: [
      { line: "svc-sandbox show key-states", does: "read a bundled scenario" },
      { line: "svc-sandbox show rotation > my.yaml", does: "begin your own from it" },
    ],
    load: async () => (await import("./commands/show.js")).show,
  },
  {
    name: "init",
    summary: "write a commented scenario to start from",
    description: "Writes a commented starter scenario. Does not overwrite a file without --force.",
    words: [
      { spec: "[file]", text: "where to write it (default: svc-sandbox.yaml, which start finds by itself)" },
    ],
    flags: ["force", "quiet", "verbose"],
    examples: [
      { line: "svc-sandbox init", does: "write svc-sandbox.yaml" },
      {
        line: "svc-sandbox init scenarios/bank.yaml --force",
        does: "write another file, over what is there",
      },
    ],
    load: async () => (await import("./commands/init.js")).init,
  },
  {
    name: "validate",
    summary: "check scenario files without serving them",
    description:
      "Checks scenario files. Good ones are named on stdout, problems go to stderr with file, line, column and a hint. Exits with 1 when a file has problems, with 2 when one cannot be read.",
    words: [{ spec: "<file...>", text: "scenario files (or bundled names)" }],
    flags: ["json", "quiet", "verbose"],
    examples: [
      { line: "svc-sandbox validate my.yaml", does: "one file" },
      { line: "svc-sandbox validate scenarios/*.yaml --json", does: "many files, for machines" },
    ],
    load: async () => (await import("./commands/validate.js")).validate,
  },
  {
    name: "keys",
    summary: "list a scenario's keys and what each one gets",
    description:
      "Lists the keys of a scenario, their secrets, and how a request with each of them ends. Below the table stand the keys that its timeline and story will make.",
    words: [scenario],
    flags: ["format", "json", "seed", "now", "frozen", "profile", "verbose"],
    examples: [
      { line: "svc-sandbox keys", does: "a table" },
      {
        line: 'eval "$(svc-sandbox keys key-states --format env)"',
        does: "SVC_API_KEY and SVC_KEY_… in your shell",
      },
      { line: "svc-sandbox keys my.yaml --format json", does: "for machines" },
    ],
    load: async () => (await import("./commands/keys.js")).keys,
  },
  {
    name: "verify",
    summary: "run the stories of scenarios as tests",
    description:
      "Tells the story of each scenario without waiting, in a world of its own whose clock stands still until the story moves it, and says step by step what came of it. A story ends with the first step that is not as it expects; its place in the file is shown. Exits with 1 when a story does not hold or there is none, with 2 when a scenario cannot be read.",
    words: [{ spec: "[scenario...]", text: "bundled names or files" }],
    flags: ["all", "verifyWatch", "seed", "now", "frozen", "profile", "json", "quiet", "noColor", "verbose"],
    examples: [
      { line: "svc-sandbox verify my.yaml", does: "one story" },
      { line: "svc-sandbox verify my.yaml --watch", does: "again whenever the file changes" },
      { line: "svc-sandbox verify scenarios/*.yaml --quiet", does: "many, for CI: only what failed" },
      { line: "svc-sandbox verify --all --profile varied", does: "every bundled story, in another profile" },
    ],
    load: async () => (await import("./commands/verify.js")).verify,
  },
  {
    name: "play",
    summary: "tell the story of a scenario to an audience",
    description:
      "Tells a story: what is said, what is sent, what comes back, how the clock moves; with pauses to read it, or step by step. Keys are shown by their refs. Goes on when an answer is not as the story expects, and exits with 1 then.",
    words: [scenario],
    flags: [
      "speed",
      "step",
      "playPort",
      "playHost",
      "seed",
      "now",
      "frozen",
      "profile",
      "json",
      "noColor",
      "verbose",
    ],
    examples: [
      { line: "svc-sandbox play rotation", does: "with time to read" },
      { line: "svc-sandbox play rotation --step", does: "Enter for the next step, q to end" },
      { line: "svc-sandbox play my.yaml --step --port 4747", does: "a client of yours meets the same world" },
      { line: "svc-sandbox play my.yaml --json", does: "for machines: a line for each step" },
    ],
    load: async () => (await import("./commands/play.js")).play,
  },
  fixturesRow,
  {
    name: "explain",
    summary: "say which checks a request with a key meets, and how it ends",
    description:
      "Says how GET /v1/relying-party/me ends for a key: the checks in their order, the answer, and what to do about it. Sends nothing and counts nothing. A key that is given is never printed.",
    words: [
      { spec: "<key>", text: "a key's ref, a full key, or one of: none, malformed, unknown" },
      scenario,
    ],
    flags: ["json", "seed", "now", "frozen", "profile", "verbose"],
    examples: [
      { line: "svc-sandbox explain revoked", does: "a key of the scenario, by its ref" },
      { line: 'svc-sandbox explain "$SVC_API_KEY" my.yaml', does: "the key that your client sends" },
      { line: "svc-sandbox explain none --json", does: "a request without a key, for machines" },
    ],
    load: async () => (await import("./commands/explain.js")).explain,
  },
  {
    name: "check",
    summary: "probe a real environment and compare it with the contract",
    description:
      "Sends a few requests for the key's context to a real environment (or a sandbox), says for each path and rule whether what came back agrees with the contract, and prints what was learned as assumptions for a scenario. Keys come from SVC_KEY_<REF> variables alone, named as keys --format env names those of key-states; without any, only requests without a good key are sent. Exits with 1 when something differs or cannot be reached. For a private certificate authority set NODE_EXTRA_CA_CERTS.",
    words: [{ spec: "<base-url>", text: "what stands before /v1/relying-party/me" }],
    flags: ["reportFormat", "json", "maxRequests", "timeout", "probeLimits", "verbose"],
    examples: [
      {
        line: "svc-sandbox check https://api.example",
        does: "the keys are in SVC_API_KEY, SVC_KEY_REVOKED, …",
      },
      { line: "svc-sandbox check https://api.example --format junit > check.xml", does: "for CI" },
      { line: "svc-sandbox check http://127.0.0.1:4747", does: "a sandbox: finds nothing" },
    ],
    load: async () => (await import("./commands/check.js")).check,
  },
  {
    name: "report",
    summary: "print what a running sandbox says of its client: paths met, paths missed, advice",
    description:
      "Asks a running sandbox which of the ways in which a request can end its clients have met, how to meet the others, and what to do better. A server's report counts the requests to its instances, too; an instance has a report of its own. Exits with 1 when --min-coverage or --strict does not hold, with 2 when no report can be got.",
    words: [
      {
        spec: "[url]",
        text: "the sandbox's base URL or control URL (default: SVC_CONTROL_URL, else http://127.0.0.1:4747)",
      },
    ],
    flags: ["reportFormat", "json", "minCoverage", "strict", "controlToken", "timeout", "verbose"],
    examples: [
      { line: "svc-sandbox report", does: "for people" },
      {
        line: 'svc-sandbox report --format markdown >> "$GITHUB_STEP_SUMMARY"',
        does: "in the summary of a CI job",
      },
      { line: "svc-sandbox report --min-coverage 80 --strict", does: "as a gate" },
    ],
    load: async () => (await import("./commands/report.js")).report,
  },
  {
    name: "openapi",
    summary: "print the OpenAPI 3.1.0 document of the API",
    description: "Prints the OpenAPI 3.1.0 document of the API as JSON.",
    words: [],
    flags: ["preview", "verbose"],
    examples: [
      { line: "svc-sandbox openapi > openapi.json", does: "keep it in a file" },
      {
        line: "svc-sandbox openapi --preview",
        does: "with the announced endpoints, as this project guesses them",
      },
    ],
    load: async () => (await import("./commands/openapi.js")).openapi,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of the scenario format",
    description:
      "Prints the JSON Schema (2020-12) of the scenario format, for editors and for other languages.",
    words: [],
    flags: ["verbose"],
    examples: [{ line: "svc-sandbox schema > scenario.schema.json", does: "keep it in a file" }],
    load: async () => (await import("./commands/schema.js")).schema,
  },
];
