import { resolve } from "node:path";
import { readHostName } from "../node/host-names.js";
import { nodePlatform } from "../node/platform.js";
import { reportFormats } from "../report/render/layout.js";
import { adviceLevels } from "../rules/advice.js";
import { profiles } from "../rules/assumptions.js";
import { readBaseUrl } from "../rules/base-url.js";
import { lastClockInstant } from "../rules/key-state.js";
import { parseDuration, parseTime } from "../rules/time.js";
import { timeHint } from "../rules/time-hint.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

/** A flag of a command. */
export interface Flag<Value> {
  /** In commander's notation: `-p, --port <number>`. */
  readonly spec: string;
  /** What the help says about it. */
  readonly text: string;
  /** Reads a value; `flagOrVariable` is its flag or variable. Throws a usage error with that name. */
  readonly read: (text: string, flagOrVariable: string) => Value;
  /** The environment variables for it; the first set variable wins. */
  readonly variables: readonly string[];
  /** The flags that it cannot be used with, as commander names them: `untilStdinEnds`. */
  readonly conflicts: readonly string[];
}

/** The flags of a command, by the names of their values. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags, each with the type that its reader returns. */
export type FlagValues<Flags extends FlagSet> = {
  readonly [Name in keyof Flags]?: Flags[Name] extends Flag<infer Value> ? Value : never;
};

type FlagOptions = Partial<Pick<Flag<unknown>, "variables" | "conflicts">>;

/** Declares a flag with a value, which the variable `SVC_SANDBOX_<FLAG>` also sets by default. If its reader returns a list, the flag is repeatable. */
export function option<Value>(
  spec: string,
  text: string,
  read: Flag<Value>["read"],
  options: FlagOptions = {},
): Flag<Value> {
  const variable = `SVC_SANDBOX_${longForm(spec).slice(2).replaceAll("-", "_").toUpperCase()}`;
  return { spec, text, read, variables: [variable], conflicts: [], ...options };
}

/** Declares a flag with a value that no variable sets. */
export function cliOnlyOption<Value>(spec: string, text: string, read: Flag<Value>["read"]): Flag<Value> {
  return option(spec, text, read, { variables: [] });
}

/** Declares a flag without a value; its variable is `1` or `0`. */
export function toggle(spec: string, text: string, options: FlagOptions = {}): Flag<boolean> {
  return option(spec, text, readSwitch, options);
}

/** Declares a flag without a value that no variable sets. */
export function cliOnlyToggle(spec: string, text: string): Flag<boolean> {
  return cliOnlyOption(spec, text, readSwitch);
}

/** The name of a flag in messages: `--port` of `-p, --port <number>`. */
export function longForm(spec: string): string {
  return /--[a-z-]+/.exec(spec)?.[0] ?? spec;
}

/** The name of the flag that a variable with this ending would set: `--port` of `PORT`. */
export function longFormOf(ending: string): string {
  return `--${ending.toLowerCase().replaceAll("_", "-")}`;
}

/** Creates a reader from a function that returns `undefined` for an invalid value; `expected` describes valid values. */
export function reader<Value>(
  read: (text: string) => Value | undefined,
  expected: string,
): Flag<Value>["read"] {
  return (text, flagOrVariable) => {
    const value = read(text);
    if (value !== undefined) return value;
    throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}. Use ${expected}.`);
  };
}

/** Creates a reader of whole numbers; `addition` follows the description of valid ones. */
export function wholeNumber(min: number, max: number, addition = ""): Flag<number>["read"] {
  const readText = (text: string) => {
    if (!/^\d{1,16}$/.test(text)) return undefined;
    const number = Number(text);
    return number >= min && number <= max ? number : undefined;
  };
  return reader(readText, `a whole number from ${min} to ${max}${addition}`);
}

/** Creates a reader that accepts these choices. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Flag<Choice>["read"] {
  return (text, flagOrVariable) => {
    const choice = choices.find((one) => one === text);
    if (choice !== undefined) return choice;
    const hint = didYouMean(text, choices);
    throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}.${hint} Use ${listed(choices, "or")}.`);
  };
}

export const readFileName = reader((text) => text || undefined, "the name of a file");

const wordsForOn = ["1", "true", "yes", "on"];
const wordsForOff = ["0", "false", "no", "off"];

const readSwitch = reader((text) => {
  const word = text.toLowerCase();
  if (wordsForOn.includes(word)) return true;
  if (wordsForOff.includes(word)) return false;
  return undefined;
}, "1 or 0");

/** Set for the process in the background that `start --detach` starts with the same command line. */
export const backgroundVariable = "SVC_IN_BACKGROUND";

// Flags of several commands. A command's own flags are in its file.

export const scenarioArgument = {
  "[scenario]":
    "a bundled name, a file, or - for stdin (default: svc-sandbox.yaml, or key-states without such a file)",
};

/** Whether a word is a port, which people write in place of a scenario or a URL. */
export function isPort(word: string): boolean {
  return /^\d{2,5}$/.test(word) && Number(word) <= 65_535;
}

export const readPort = wholeNumber(0, 65_535, "; 0 uses any free port");

const readHost = reader((text) => {
  // Node listens on all addresses if the address is empty, which would open the sandbox to the network.
  if (text.trim() === "" || text.includes("/")) return undefined;
  // The brackets that an IPv6 address has in a URL.
  return text.replace(/^\[(.*)\]$/, "$1");
}, "an address such as 127.0.0.1, ::1 or 0.0.0.0");

const readAllowHost = reader(readHostName, "a name such as sandbox.example, with its port if it has one");

function readAllowHosts(text: string, flagOrVariable: string): string[] {
  return text.split(",").map((name) => readAllowHost(name.trim(), flagOrVariable));
}

const largestSeed = Number.MAX_SAFE_INTEGER;
export const readSeed = wholeNumber(0, largestSeed);

const readNumberOfSeed = wholeNumber(0, largestSeed, ", or random");

function readSeedOrRandom(text: string, flagOrVariable: string): number {
  if (text === "random") return nodePlatform.random();
  return readNumberOfSeed(text, flagOrVariable);
}

export function readClockStart(text: string, flagOrVariable: string): number {
  const time = parseTime(text);
  if (time === undefined) throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: ${timeHint(text)}.`);
  if (time <= lastClockInstant) return time;
  const latest = new Date(lastClockInstant).toISOString();
  throw usageError(`Invalid ${flagOrVariable}: ${quote(text)}: the latest time is ${latest}.`);
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

/** Creates a reader of durations, in milliseconds. */
export function readDuration(examples: string): Flag<number>["read"] {
  const readText = (text: string) => {
    const duration = parseDuration(text);
    if (duration === undefined || duration <= 0) return undefined;
    return duration;
  };
  return reader(readText, `a duration such as ${examples}`);
}

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

/** How to start a sandbox whose clock is always frozen. */
export const frozenSandboxFlags = {
  seed: sandboxFlags.seed,
  now: sandboxFlags.now,
  profile: sandboxFlags.profile,
};
export type SandboxFlags = FlagValues<typeof sandboxFlags>;

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
    reader(readBaseUrl, "a base URL such as https://sandbox.example"),
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
  control: toggle("--no-control", "serve only the API, without the control plane"),
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

/** Where `start` listens by default. */
export const standardHost = "127.0.0.1:4747";
const standardUrl = `http://${standardHost}`;

/** The help of an argument or a flag that names a running sandbox. */
export const runningUrlText = `the sandbox's base URL or control URL (default: SVC_CONTROL_URL, or ${standardUrl})`;

export const timeout = option(
  "--timeout <duration>",
  "timeout for each response: 500ms, 10s, 1m (default: 10s)",
  readDuration("500ms, 10s or 1m"),
);

export const defaultTimeoutMs = 10_000;

/** How to call a running sandbox. */
export const callFlags = {
  controlToken,
  ca: option("--ca <file>", "trust this certificate authority (PEM) besides this machine's", readFileName),
  timeout,
};

/** Where a running sandbox is, and how to call it. */
export function controlAddress(
  url: string | undefined,
  flags: FlagValues<typeof callFlags>,
  { env, cwd }: Io,
) {
  if (url !== undefined && isPort(url)) {
    throw usageError(`${quote(url)} is a port, not a URL. Did you mean http://127.0.0.1:${url}?`);
  }
  // A message about a wrong token names where it is from.
  const isFromVariable = flags.controlToken === env.SVC_SANDBOX_CONTROL_TOKEN;
  return {
    url: url ?? (env.SVC_CONTROL_URL || standardUrl),
    token: flags.controlToken,
    tokenFrom: isFromVariable ? "SVC_SANDBOX_CONTROL_TOKEN" : "--control-token",
    ca: flags.ca === undefined ? undefined : resolve(cwd, flags.ca),
    timeout: flags.timeout ?? defaultTimeoutMs,
  };
}

export const force = cliOnlyToggle("--force", "overwrite an existing file");

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

export const verbose = toggle("--verbose", "print more: stack traces of defects");
/** The flag `--verbose` of a command with a log. */
export const verboseLog = toggle("--verbose", "print more: request ids in the log, stack traces of defects");

/** The flags of a command, with the one that every command has. */
export function allOf(flags: FlagSet): FlagSet {
  return { ...flags, verbose: "log" in flags ? verboseLog : verbose };
}

/** The names of flags, except for some: the modes of a command list what they read. */
export function flagNamesOf<Name extends string, Excepted extends Name = never>(
  flags: Readonly<Record<Name, Flag<unknown>>>,
  except: readonly Excepted[] = [],
): Exclude<Name, Excepted>[] {
  const excepted: readonly string[] = except;
  const names = Object.keys(flags).filter((name) => !excepted.includes(name));
  return names as Exclude<Name, Excepted>[]; // `Object.keys` returns texts
}

export const frozenSandboxFlagNames = flagNamesOf(frozenSandboxFlags);

/** The options of a start among others, such as all flags of a command. */
export function startOptionsOf({ seed, now, frozen, profile }: StartOptions): StartOptions {
  return { seed, now, frozen, profile };
}
