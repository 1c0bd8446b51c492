import { readHostName } from "../node/host-names.js";
import { nodePlatform } from "../node/platform.js";
import { reportFormats } from "../report/render/layout.js";
import { adviceLevels } from "../rules/advice.js";
import { profiles } from "../rules/assumptions.js";
import { readBaseUrl } from "../rules/base-url.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import { listed } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import {
  cliOnlyOption,
  durationLike,
  type Flag,
  type FlagSet,
  type FlagValues,
  oneOf,
  option,
  readClockStart,
  readerOf,
  readFileName,
  toggle,
  wholeNumber,
} from "./flags.js";

// Flags of several commands. A command's own flags are in its file.

const readHost = readerOf((text) => {
  // Node listens on all addresses if the address is empty, which would open the sandbox to the network.
  if (text.trim() === "" || text.includes("/")) return undefined;
  // The brackets that an IPv6 address has in a URL.
  return text.replace(/^\[(.*)\]$/, "$1");
}, "an address such as 127.0.0.1, ::1 or 0.0.0.0");

const readAllowHost = readerOf(readHostName, "a name such as sandbox.example, with its port if it has one");

function readAllowHosts(text: string, flagOrVariable: string): string[] {
  return text.split(",").map((name) => readAllowHost(name.trim(), flagOrVariable));
}

const readNumberOfSeed = wholeNumber(0, Number.MAX_SAFE_INTEGER, ", or random");

function readSeedOrRandom(text: string, flagOrVariable: string): number {
  if (text === "random") return nodePlatform.random();
  return readNumberOfSeed(text, flagOrVariable);
}

/** The characters that an Authorization header may have, and enough of them. */
const tokenPattern = /^[A-Za-z0-9._~+/-]{8,}=*$/;

/** The message leaves out the token, which may be valid except for one character. */
function readToken(text: string, flagOrVariable: string): string {
  if (tokenPattern.test(text)) return text;
  throw usageError(
    `${flagOrVariable} is not a valid token. Use at least 8 letters, digits and . _ ~ + / - (the characters of an Authorization header).`,
  );
}

export const scenarioArgument = {
  "[scenario]":
    "a bundled name, a file, or - for stdin (default: svc-sandbox.yaml, or key-states without such a file)",
};

/** How to start a sandbox. */
export const sandboxFlags = {
  seed: option(
    "--seed <number>",
    "seed for all generated data, or random, which draws one (default: the scenario's seed, or 1)",
    readSeedOrRandom,
  ),
  now: option(
    "--now <time>",
    "start of the sandbox's clock, with a zone: 2026-03-02T09:00:00Z (default: the scenario's, or the real time)",
    readClockStart,
  ),
  frozen: toggle("--frozen", "freeze the sandbox's clock: it only moves when you move it"),
  profile: option(
    "--profile <name>",
    "assumptions about what the specification leaves open: minimal, typical or varied (default: the scenario's, or minimal)",
    oneOf(profiles),
  ),
};

export type SandboxFlags = FlagValues<typeof sandboxFlags>;

/** How to start a sandbox for a command that itself decides whether the clock is frozen. */
export const sandboxFlagsWithoutFrozen = {
  seed: sandboxFlags.seed,
  now: sandboxFlags.now,
  profile: sandboxFlags.profile,
};

/** The options of a start among others, such as all flags of a command. */
export function startOptionsOf({ seed, now, frozen, profile }: StartOptions): StartOptions {
  return { seed, now, frozen, profile };
}

const controlToken = option(
  "--control-token <token>",
  "bearer token of the control plane (default: none on 127.0.0.1, a random one elsewhere)",
  readToken,
);

/** How to serve a sandbox. */
export const serverFlags = {
  host: option(
    "-H, --host <address>",
    "address to listen on (default: 127.0.0.1, only this machine)",
    readHost,
  ),
  publicUrl: option(
    "--public-url <url>",
    "base URL that clients use, behind a proxy, in a container or from other machines; replaces the address in all output (default: the address)",
    readerOf(readBaseUrl, "a base URL such as https://sandbox.example"),
  ),
  allowHosts: option(
    "--allow-host <name>",
    "another host name for the control plane, for a proxy on this machine; repeatable, or separated by commas",
    readAllowHosts,
  ),
  explain: toggle(
    "--explain",
    "add X-Sandbox-Outcome to API responses: the request's outcome (the real API has no such header)",
  ),
  // Only the control plane has a token and a dashboard, and lets the command stop end a process in the background.
  noControl: toggle("--no-control", "serve only the API, without the control plane", {
    conflicts: ["controlToken", "detach", "open"],
  }),
  controlToken,
  tls: toggle(
    "--tls",
    "serve HTTPS with a self-signed certificate for localhost, 127.0.0.1, ::1, --host, --public-url and --allow-host",
    { conflicts: ["cert", "key"] },
  ),
  cert: option(
    "--cert <file>",
    "serve HTTPS with this certificate (PEM, with its chain); needs --key",
    readFileName,
  ),
  key: option("--key <file>", "private key of --cert (PEM, without a passphrase)", readFileName),
};

/** The flags of `start`. */
export interface StartFlags extends ServeFlags, SandboxFlags {
  readonly state?: string;
  readonly watch?: boolean;
  readonly writeEnv?: string;
  readonly showKeys?: boolean;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly untilStdinEnds?: boolean;
  readonly open?: boolean;
}

/** The flags of a command that serves a sandbox. */
export interface ServeFlags extends FlagValues<typeof serverFlags> {
  readonly port?: number;
  readonly log?: "pretty" | "json" | "off";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const logFormats = ["pretty", "json", "off"] as const;

export function log(defaultFormat: (typeof logFormats)[number]) {
  return option(
    "--log <format>",
    `log format of requests and of steps of the timeline and the story, on stderr: pretty, json or off (default: ${defaultFormat})`,
    oneOf(logFormats),
  );
}

export const format = cliOnlyOption(
  "--format <format>",
  `${listed(reportFormats, "or")} (default: text)`,
  oneOf(reportFormats),
);

/** What makes a command fail, although all requests went well. */
export const thresholdFlags = {
  minCoverage: option(
    "--min-coverage <percent>",
    "exit with 5 if the coverage of promised outcomes is lower, from 0 to 100 (default: none)",
    wholeNumber(0, 100),
  ),
  failOn: option(
    "--fail-on <level>",
    "exit with 5 if there is advice of this level or above: note, warning or error (default: none)",
    oneOf(adviceLevels),
  ),
};

const timeout = option(
  "--timeout <duration>",
  "timeout for each response: 500ms, 10s, 1m (default: 10s)",
  durationLike("500ms, 10s or 1m"),
);

/** How to call a running sandbox. */
export const callFlags = {
  controlToken,
  ca: option("--ca <file>", "trust this certificate authority (PEM) besides this machine's", readFileName),
  timeout,
};

export const json = toggle("--json", "print JSON instead of text", { conflicts: ["format"] });

export const endpoint = cliOnlyOption(
  "--endpoint <operation id>",
  "of this endpoint, such as createReport (default: GET /v1/relying-party/me)",
  (text) => text,
);

/** `stillPrinted` says what --quiet leaves. */
export function quiet(stillPrinted: string): Flag<boolean> {
  return toggle("--quiet", `print as little as possible: ${stillPrinted}`, { conflicts: ["verbose"] });
}

const verbose = toggle("--verbose", "print more: stack traces of defects");
/** The flag `--verbose` of a command with a log. */
const verboseLog = toggle("--verbose", "print more: request ids in the log, stack traces of defects");

/** The flags of a command, with the one that every command has. */
export function withVerbose(flags: FlagSet): FlagSet {
  return { ...flags, verbose: "log" in flags ? verboseLog : verbose };
}
