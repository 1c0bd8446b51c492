import { resolve } from "node:path";
import { readBaseUrl } from "../library/base-url.js";
import { isMachineLimit } from "../node/files/write-file.js";
import { readHostName } from "../node/host-names.js";
import type { Logger } from "../node/logger.js";
import { nodePlatform } from "../node/platform.js";
import { reportFormats } from "../report/render/layout.js";
import { adviceLevels } from "../rules/advice.js";
import { profiles } from "../rules/assumptions.js";
import { SandboxError } from "../rules/errors.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import { listed } from "../schema/words.js";
import type { ServeOptions } from "../server/listen.js";
import type { CommandCall } from "./command.js";
import { describeFailure, usageError } from "./exit-codes.js";
import {
  durationLike,
  type Flag,
  type FlagSet,
  type FlagValues,
  inGroup,
  oneOf,
  option,
  readClockStart,
  readerOf,
  readFileName,
  readPort,
  toggle,
  wholeNumber,
} from "./flags.js";
import { type Io, standardUrl } from "./io.js";

// Flags of several commands, those of `start`, and the options that they become: `startOptionsOf` for the sandbox, `serveOptions` for
// the server. The flags of any other command are in its file.

const readHost = readerOf((text) => {
  // Node listens on all addresses if the address is empty, which would open the sandbox to the network.
  if (text.trim() === "" || text.includes("/")) return undefined;
  // The brackets that an IPv6 address has in a URL.
  return text.replace(/^\[(.*)\]$/, "$1");
}, "an address such as 127.0.0.1, ::1 or 0.0.0.0");

const readAllowHost = readerOf(readHostName, "a name such as sandbox.example, with its port if it has one");

const readNumberOfSeed = wholeNumber(0, Number.MAX_SAFE_INTEGER, ", or random");

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
export const sandboxFlags = inGroup("The sandbox", {
  seed: option(
    "--seed <number>",
    "seed for all generated data, or random, which draws one (default: the scenario's seed, or 1)",
    (text, from) => (text === "random" ? nodePlatform.random() : readNumberOfSeed(text, from)),
  ),
  now: option(
    "--now <time>",
    "start of the sandbox's clock, with a zone: 2026-03-02T09:00:00Z (default: the scenario's, or the real time)",
    readClockStart,
  ),
  frozen: toggle("--frozen", "freeze the sandbox's clock: it only moves when you move it"),
  profile: option(
    "--profile <name>",
    "what the specification leaves open: minimal, typical or varied (default: the scenario's, or minimal)",
    oneOf(profiles),
  ),
});

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
  "bearer token of the control plane (default: SVC_SANDBOX_CONTROL_TOKEN, or none on 127.0.0.1, a random one elsewhere)",
  readToken,
);

/** The control token of the flag, or of the variable, which every command reads. */
export function controlTokenOf(
  { controlToken }: { readonly controlToken?: string },
  { env }: Pick<Io, "env">,
): string | undefined {
  const { SVC_SANDBOX_CONTROL_TOKEN: text = "" } = env;
  if (controlToken !== undefined || text === "") return controlToken;
  return readToken(text, "SVC_SANDBOX_CONTROL_TOKEN");
}

/** How to serve a sandbox. */
export const serverFlags = inGroup("The server", {
  host: option(
    "-H, --host <address>",
    "address to listen on (default: 127.0.0.1, only this machine)",
    readHost,
  ),
  publicUrl: option(
    "--public-url <url>",
    "base URL that clients use, such as a proxy's; replaces the address in all output (default: the address)",
    readerOf(readBaseUrl, "a base URL such as https://sandbox.example"),
  ),
  allowHosts: option(
    "--allow-host <name>",
    "another host for the control plane, such as a proxy's with its port; repeatable, or separated by commas",
    (text, from) => text.split(",").map((name) => readAllowHost(name.trim(), from)),
  ),
  explain: toggle("--explain", "add the request's outcome to API responses, as X-Sandbox-Outcome"),
  // Only the control plane has a token, and lets the command stop end a process in the background.
  noControl: toggle("--no-control", "serve only the API, without the control plane", {
    conflicts: ["controlToken", "detach"],
  }),
  controlToken,
  tls: toggle(
    "--tls",
    "serve HTTPS with a self-signed certificate for this machine and the names in other flags",
    { conflicts: ["cert", "key"] },
  ),
  cert: option(
    "--cert <file>",
    "serve HTTPS with this certificate (PEM, with its chain); needs --key",
    readFileName,
  ),
  key: option("--key <file>", "private key of --cert (PEM, without a passphrase)", readFileName),
});

const logFormats = ["pretty", "json", "off"] as const;

export function log(defaultFormat: (typeof logFormats)[number]) {
  return option(
    "--log <format>",
    `format of the log on stderr: pretty, json or off (default: ${defaultFormat})`,
    oneOf(logFormats),
  );
}

export const format = option(
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
  controlToken: serverFlags.controlToken,
  ...inGroup("The call", {
    ca: option("--ca <file>", "trust this certificate authority (PEM) besides this machine's", readFileName),
    timeout,
  }),
};

/** The help of an argument or a flag that names a running sandbox. */
export const runningUrlText = `the sandbox's base URL or control URL (default: SVC_CONTROL_URL, or ${standardUrl})`;

export const defaultTimeoutMs = 10_000;

/** Where a running sandbox is, and how to call it. */
export function controlAddress(
  url: string | undefined,
  { flags, io }: Pick<CommandCall<FlagValues<typeof callFlags>>, "flags" | "io">,
) {
  return {
    url: url ?? (io.env.SVC_CONTROL_URL || standardUrl),
    token: controlTokenOf(flags, io),
    ca: flags.ca === undefined ? undefined : resolve(io.cwd, flags.ca),
    timeout: flags.timeout ?? defaultTimeoutMs,
    program: io.program,
  };
}

export const json = toggle("--json", "print JSON instead of text", { conflicts: ["format"] });

export const endpoint = option(
  "--endpoint <operation id>",
  "of this endpoint, such as createReport (default: GET /v1/relying-party/me)",
  (text) => text,
);

/** `stillPrinted` says what --quiet leaves. */
export function quiet(stillPrinted: string, ...conflicts: readonly string[]): Flag<boolean> {
  const help = `print as little as possible: ${stillPrinted}`;
  return toggle("--quiet", help, { conflicts: ["verbose", ...conflicts] });
}

const verbose = toggle("--verbose", "print more, such as the stack traces of defects");

/** The flags of a command, with the one that every command has. */
export function withVerbose(flags: FlagSet): FlagSet {
  return { ...flags, verbose };
}

/** The flags of `start`. */
export const startFlags = {
  port: option(
    "-p, --port <number>",
    "the port to listen on; 0 uses any free port (default: 4747)",
    readPort,
  ),
  ...serverFlags,
  ...sandboxFlags,
  watch: toggle("--watch", "load the scenario again when its file changes, if it is valid"),
  writeEnv: option(
    "--write-env <file>",
    "set the base URL, the keys and the control token in this file; its other lines stay",
    readFileName,
  ),
  state: option(
    "--state <file>",
    "keep the sandbox in this file over a restart; the file overrides --seed, --now, --frozen and --profile",
    readFileName,
  ),
  detach: toggle(
    "--detach",
    "serve in the background: print the line of --json, and return; the command stop ends it",
    { conflicts: ["untilStdinEnds"] },
  ),
  untilStdinEnds: toggle(
    "--until-stdin-ends",
    "print the line of --json, and stop when stdin ends, such as with your program",
  ),
  log: log("pretty"),
  showKeys: toggle(
    "--show-keys",
    "print full keys and a generated control token; SVC_SANDBOX_SHOW_KEYS=0 hides them (default: print them, except with --log json)",
  ),
  json,
  quiet: quiet("no notes and no request log"),
};

/** The values of the flags of `start`. */
export type StartFlags = FlagValues<typeof startFlags> & { readonly verbose?: boolean };

/** Those of a command that serves a sandbox, which `exec` and `certify` do, too. */
export type ServeFlags = Pick<StartFlags, keyof typeof serverFlags | "port" | "log" | "quiet" | "verbose">;

/** The options of a server that the flags set. */
export async function serveOptions(flags: ServeFlags, io: Io, log: Logger): Promise<ServeOptions> {
  const { port = 4747, host, publicUrl, allowHosts, explain, noControl } = flags;
  const controlToken = controlTokenOf(flags, io);
  const tls = await readTls(flags, io);
  return {
    port,
    ...(host !== undefined && { host }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(allowHosts !== undefined && { allowHosts }),
    ...(explain !== undefined && { explain }),
    ...(noControl && { control: false }),
    ...(controlToken !== undefined && { controlToken }),
    ...(tls !== undefined && { tls }),
    stop: io.stopProcess,
    program: io.program,
    onDefect(error) {
      const failure = describeFailure(error, { ...flags, json: false }).trimEnd();
      // A failed save is reported here too, although no request waits for it.
      const isFailedSave = error instanceof SandboxError && error.code.startsWith("state_");
      if (isMachineLimit(error) || isFailedSave) log.problem(failure);
      else log.problem(`A request got 500. ${failure}`);
    },
  };
}

/** The option that `--tls`, `--cert` and `--key` set: whether to serve HTTPS, and with which certificate. Throws a usage error if it has no private key, or the other way round. */
async function readTls(flags: ServeFlags, { cwd }: Io): Promise<ServeOptions["tls"]> {
  const { cert, key } = flags;
  if (cert === undefined && key === undefined) return flags.tls;
  if (cert === undefined || key === undefined) {
    const requires = key === undefined ? "--cert requires --key" : "--key requires --cert";
    throw usageError(`${requires}. Use both, or only --tls for a self-signed certificate.`);
  }
  const { readPair } = await import("../server/sockets/tls.js");
  return readPair({ cert, key }, cwd);
}
