import { adviceLevels } from "../domain/advice.js";
import { profiles } from "../domain/assumptions.js";
import { isLoopbackHost, readBaseUrl, readHostName } from "../node/addresses.js";
import { reportFormats } from "../report/render/document.js";
import { parseDuration, parseTime } from "../scenario/format/time.js";
import {
  type FlagValues,
  fileName,
  flag,
  noVariable,
  oneOf,
  reader,
  toggle,
  wholeNumber,
} from "./command.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

// The flags that several commands share. A flag of one command stands in the file of that command.

export const readPort = wholeNumber(0, 65_535, "; 0 takes any free port");

export const readHost = reader(
  // Node takes an empty address for all of them, which would open the sandbox to the network.
  (text) => (text.trim() === "" || text.includes("/") ? undefined : text.replace(/^\[(.*)\]$/, "$1")),
  "an address such as 127.0.0.1, ::1 or 0.0.0.0",
);

function bytesFrom(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6}) ?(MB|GB)$/i.exec(text) ?? [];
  return Number(digits) * (unit?.toUpperCase() === "GB" ? 1e9 : 1e6) || undefined;
}

const readHostNames = (text: string, from: string) =>
  text.split(",").map((name) => readHostNameFrom(name.trim(), from));
const readHostNameFrom = reader(readHostName, "a name such as sandbox.example, with its port if it has one");

export const readSeed = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/** Epoch milliseconds. */
export const readTime = reader(parseTime, "a time with its zone, such as 2026-03-02T09:00:00Z");

const tokenPattern = /^[A-Za-z0-9._~+/-]{8,}=*$/;

// The token itself is not repeated: it may be right but for one character.
function readToken(text: string, from: string): string {
  if (tokenPattern.test(text)) return text;
  throw usageError(
    `Failed to read ${from}: a token is at least 8 letters, digits and . _ ~ + / - (what fits into an Authorization header).`,
  );
}

export const readDuration = (examples: string) =>
  reader((text) => {
    const duration = parseDuration(text);
    return duration !== undefined && duration > 0 ? duration : undefined;
  }, `a length of time such as ${examples}`);

export const readText = reader((text) => text || undefined, "an id or a ref");

/** The flags that decide which world a scenario becomes. */
export const worldFlags = {
  seed: flag(
    "--seed <number>",
    "what everything invented is derived from (default: the scenario's, else 1)",
    readSeed,
  ),
  now: flag(
    "--now <time>",
    "when the sandbox's clock starts, with a zone: 2026-03-02T09:00:00Z (default: the scenario's, else the real time)",
    readTime,
  ),
  frozen: toggle("--frozen", "the sandbox's clock stands still until it is moved"),
  profile: flag(
    "--profile <name>",
    "what is assumed where the specification is silent: minimal, typical or varied (default: the scenario's, else minimal)",
    oneOf(profiles),
  ),
};
export type WorldFlags = FlagValues<typeof worldFlags>;

export const host = flag(
  "-H, --host <address>",
  "the address to listen on (default: 127.0.0.1, this machine only)",
  readHost,
);

export const controlToken = flag(
  "--control-token <token>",
  "the bearer token that the control plane asks for (default: none on this machine's own addresses, else a random one)",
  readToken,
);

/** The flags of commands that serve a scenario, but for the port. */
export const serverFlags = {
  host,
  publicUrl: flag(
    "--public-url <url>",
    "the base URL by which clients reach the sandbox, behind a proxy, in a container or from other machines; it is printed, written and answered instead of the address (default: the address)",
    reader(readBaseUrl, "a base URL such as https://sandbox.example"),
  ),
  allowHosts: flag(
    "--allow-host <name>",
    "a name that the control plane answers to on this machine's own addresses, for a proxy in front; may be given more than once, or with commas",
    readHostNames,
  ),
  explain: toggle(
    "--explain",
    "add X-Sandbox-Path to API answers: the path on which the request ended (the real API has no such header)",
  ),
  handlers: flag(
    "--handlers <module>",
    "serve the msw handlers that this module exports (as default, or as handlers) beside the API, for paths that the API does not have",
    fileName,
  ),
  maxBody: flag(
    "--max-body <megabytes>",
    "the most of a request's body that --handlers get; a longer one gets 413 (default: 10)",
    wholeNumber(1, 1000),
  ),
  control: toggle("--no-control", "serve the API alone, without the control plane"),
  controlToken,
  instanceTtl: flag(
    "--instance-ttl <duration>",
    "how long an instance of the control plane stays without a request: 90s, 10m, 2h (default: 1h)",
    readDuration("90s, 10m or 2h"),
  ),
  maxInstances: flag(
    "--max-instances <number>",
    "how many instances there can be at one time (default: 1000)",
    wholeNumber(1, 1_000_000),
  ),
  instanceRate: flag(
    "--instance-rate <number>",
    "how many requests a minute each instance takes over all its keys, unless it is made with another limit (default: any number)",
    wholeNumber(1, 1_000_000),
  ),
  maxMemory: flag(
    "--max-memory <size>",
    "how much of the heap the server uses before it discards journals of instances, then starts no more of them: 180MB, 1GB (default: 70% of the heap's or the container's limit)",
    reader(bytesFrom, "a size such as 180MB or 1GB"),
  ),
  tls: toggle(
    "--tls",
    "serve HTTPS with a self-signed certificate for localhost, 127.0.0.1, ::1, --host, --public-url and --allow-host; --state keeps it",
  ),
  cert: flag(
    "--cert <file>",
    "serve HTTPS with this certificate (PEM, with its chain); needs --key",
    fileName,
  ),
  key: flag("--key <file>", "the private key of --cert (PEM, without a passphrase)", fileName),
};

const readIntercepted = (text: string, from: string): readonly string[] =>
  text.split(",").map((name) => readInterceptedHost(name.trim(), from));
const readInterceptedHost = reader((text) => {
  const isName = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/.test(text) && !isLoopbackHost(text);
  return isName ? text.toLowerCase() : undefined;
}, "the name of a host, such as api.example or *.bank.example, without a port");

/** The flags of commands that run clients. */
export const interceptFlags = {
  intercept: flag(
    "--intercept <host>",
    "lead requests to this host into the sandbox, for a client that hard-codes its https address; *.bank.example stands for all names below it; may be given more than once, or with commas",
    readIntercepted,
  ),
  passThrough: toggle(
    "--pass-through",
    "with --intercept, let requests to other hosts reach them (default: they are rejected, so no real key leaves)",
  ),
};

const logFormats = ["pretty", "json", "off"] as const;

export const log = (standard: (typeof logFormats)[number]) =>
  flag(
    "--log <format>",
    `how requests, and steps of the timeline and the story, are logged on stderr: pretty, json or off (default: ${standard})`,
    oneOf(logFormats),
  );

export const formatFlag = flag(
  "--format <format>",
  "text, brief (one line of JSON for scripts and agents), json, markdown, junit or html (default: text)",
  oneOf(reportFormats),
  noVariable,
);

export const testFormatFlag = flag(
  "--format <format>",
  "text, json or junit (default: text)",
  oneOf(["text", "json", "junit"]),
  noVariable,
);

/** The thresholds that a report has to meet. */
export const thresholdFlags = {
  minCoverage: flag(
    "--min-coverage <percent>",
    "exit with 1 when less of the promised paths was met than this, from 0 to 100 (default: 0)",
    wholeNumber(0, 100),
  ),
  failOn: flag(
    "--fail-on <level>",
    "exit with 1 when there is advice of this level or a higher one: note, warning or error (default: none)",
    oneOf(adviceLevels),
  ),
  strict: toggle("--strict", "the same as --fail-on error"),
};

/** The address of a sandbox that is running, unless one is named. */
export const standardUrl = "http://127.0.0.1:4747";

export const runningUrl = `the sandbox's base URL or control URL (default: SVC_CONTROL_URL, else ${standardUrl})`;

/** Milliseconds. */
export const timeout = flag(
  "--timeout <duration>",
  "how long to wait for each answer: 500ms, 10s, 1m (default: 10s)",
  readDuration("500ms, 10s or 1m"),
);

export const defaultWait = 10_000;

/** The flags of commands that ask a running sandbox. */
export const askFlags = { controlToken, timeout };

/** A call of the control plane of a running sandbox. */
export function controlCall(url: string | undefined, flags: FlagValues<typeof askFlags>, { env }: Io) {
  return {
    url: url ?? (env.SVC_CONTROL_URL || standardUrl),
    token: flags.controlToken,
    timeout: flags.timeout ?? defaultWait,
  };
}

export const json = toggle("--json", "print JSON instead of text");

/** `--json` beside `--format`. */
export const jsonOrFormat = toggle("--json", "print JSON instead of text", { conflicts: ["format"] });

export const wide = toggle("--wide", "all columns and whole lines, whatever the width of the terminal");

export const color = toggle("--no-color", "no colours");

export const quiet = toggle("--quiet", "print as little as possible: no notes and no request log");

export const verbose = toggle("--verbose", "print more: request ids in the log, stack traces of defects");
