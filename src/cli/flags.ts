import type { Profile } from "../domain/assumptions.js";
import type { ReportFormat } from "../report/render/document.js";
import { type FixtureFlags, fixtureFlags } from "./fixture-flags.js";
import {
  readDuration,
  readFormat,
  readHost,
  readLogFormat,
  readNow,
  readPath,
  readPercent,
  readPort,
  readProfile,
  readReportFormat,
  readRequestCount,
  readSeed,
  readToken,
} from "./flag-values.js";
import type { KeyFormat, LogFormat } from "./formats.js";
import { type StoryFlags, storyFlags } from "./story-flags.js";

/** The flags as a command sees them; one that is left out was given nowhere. */
export interface Flags extends FixtureFlags, StoryFlags {
  readonly port?: number;
  readonly host?: string;
  readonly seed?: number;
  /** Epoch milliseconds. */
  readonly now?: number;
  readonly frozen?: boolean;
  readonly profile?: Profile;
  readonly watch?: boolean;
  readonly explain?: boolean;
  readonly handlers?: string;
  readonly envFile?: string;
  /** False when `--no-control` was given. */
  readonly control?: boolean;
  readonly controlToken?: string;
  /** Milliseconds. */
  readonly instanceTtl?: number;
  readonly state?: string;
  readonly tls?: boolean;
  readonly cert?: string;
  readonly key?: string;
  readonly log?: LogFormat;
  readonly format?: KeyFormat;
  readonly reportFormat?: ReportFormat;
  /** In percent. */
  readonly minCoverage?: number;
  readonly strict?: boolean;
  readonly preview?: boolean;
  readonly maxRequests?: number;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly probeLimits?: boolean;
  readonly execPort?: number;
  readonly execLog?: LogFormat;
  /** The files to write the report to. */
  readonly report?: readonly string[];
  readonly json?: boolean;
  readonly force?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** One flag: how it is written, what it does, and where else its value can come from. */
export interface Flag {
  /** In commander's notation. */
  readonly spec: string;
  readonly text: string;
  /** Understands the value, which came from the named flag or variable; throws a usage error. Left out: a switch. */
  readonly read?: (text: string, from: string) => Flags[keyof Flags];
  /** Whether it can be given more than once; its value is a list then. */
  readonly repeatable?: true;
  /** Environment variables that stand in for it, the first one set wins. */
  readonly variables: readonly string[];
}

/** Every flag there is; the commands name theirs. */
export const flags = {
  port: {
    spec: "-p, --port <number>",
    text: "the port to listen on; 0 takes any free one (default: 4747)",
    read: readPort,
    variables: ["SVC_SANDBOX_PORT", "PORT"],
  },
  host: {
    spec: "-H, --host <address>",
    text: "the address to listen on (default: 127.0.0.1, this machine only)",
    read: readHost,
    variables: ["SVC_SANDBOX_HOST"],
  },
  seed: {
    spec: "--seed <number>",
    text: "what everything invented is derived from (default: the scenario's, else 1)",
    read: readSeed,
    variables: ["SVC_SANDBOX_SEED"],
  },
  now: {
    spec: "--now <time>",
    text: "when the sandbox's clock starts, with a zone: 2026-03-02T09:00:00Z (default: the scenario's, else the real time)",
    read: readNow,
    variables: ["SVC_SANDBOX_NOW"],
  },
  frozen: {
    spec: "--frozen",
    text: "the sandbox's clock stands still until it is moved",
    variables: ["SVC_SANDBOX_FROZEN"],
  },
  profile: {
    spec: "--profile <name>",
    text: "what is assumed where the specification is silent: minimal, typical or varied (default: the scenario's, else minimal)",
    read: readProfile,
    variables: ["SVC_SANDBOX_PROFILE"],
  },
  watch: {
    spec: "--watch",
    text: "load the scenario again when its file changes; a broken file leaves the running one in place",
    variables: ["SVC_SANDBOX_WATCH"],
  },
  explain: {
    spec: "--explain",
    text: "add X-Sandbox-Path to API answers: the path on which the request ended (the real API has no such header)",
    variables: ["SVC_SANDBOX_EXPLAIN"],
  },
  handlers: {
    spec: "--handlers <module>",
    text: "serve the msw handlers that this module exports (as default, or as handlers) beside the API, for paths that the API does not have",
    read: readPath,
    variables: ["SVC_SANDBOX_HANDLERS"],
  },
  envFile: {
    spec: "--write-env, --env-file <file>",
    text: "write SVC_BASE_URL, SVC_API_KEY and the other variables for clients to this file (by its second name Node refuses to start when the file is not there yet)",
    read: readPath,
    variables: ["SVC_SANDBOX_WRITE_ENV", "SVC_SANDBOX_ENV_FILE"],
  },
  noControl: {
    spec: "--no-control",
    text: "serve the API alone, without the control plane",
    variables: ["SVC_SANDBOX_NO_CONTROL"],
  },
  controlToken: {
    spec: "--control-token <token>",
    text: "the bearer token that the control plane asks for (default: none on this machine's own addresses, else a random one)",
    read: readToken,
    variables: ["SVC_SANDBOX_CONTROL_TOKEN"],
  },
  instanceTtl: {
    spec: "--instance-ttl <duration>",
    text: "how long an instance of the control plane stays without a request: 90s, 10m, 2h (default: 1h)",
    read: readDuration,
    variables: ["SVC_SANDBOX_INSTANCE_TTL"],
  },
  state: {
    spec: "--state <file>",
    text: "keep the world in this file, so that it survives a restart: what is in it wins over --seed, --now, --frozen and --profile",
    read: readPath,
    variables: ["SVC_SANDBOX_STATE"],
  },
  tls: {
    spec: "--tls",
    text: "serve HTTPS with a self-signed certificate for localhost, 127.0.0.1, ::1 and --host",
    variables: ["SVC_SANDBOX_TLS"],
  },
  cert: {
    spec: "--cert <file>",
    text: "serve HTTPS with this certificate (PEM, with its chain); needs --key",
    read: readPath,
    variables: ["SVC_SANDBOX_CERT"],
  },
  key: {
    spec: "--key <file>",
    text: "the private key of --cert (PEM, without a passphrase)",
    read: readPath,
    variables: ["SVC_SANDBOX_KEY"],
  },
  log: {
    spec: "--log <format>",
    text: "how requests, and steps of the timeline and the story, are logged on stderr: pretty, json or off (default: pretty)",
    read: readLogFormat,
    variables: ["SVC_SANDBOX_LOG"],
  },
  format: {
    spec: "--format <format>",
    text: "table, json, or env: lines that a shell and a .env file understand (default: table)",
    read: readFormat,
    variables: [],
  },
  reportFormat: {
    spec: "--format <format>",
    text: "text, json, markdown or junit (default: text)",
    read: readReportFormat,
    variables: [],
  },
  minCoverage: {
    spec: "--min-coverage <percent>",
    text: "exit with 1 when less of the promised paths was met than this, from 0 to 100 (default: 0)",
    read: readPercent,
    variables: ["SVC_SANDBOX_MIN_COVERAGE"],
  },
  strict: {
    spec: "--strict",
    text: "exit with 1 when there is advice of the level error",
    variables: ["SVC_SANDBOX_STRICT"],
  },
  preview: {
    spec: "--preview",
    text: "also the announced endpoints, consent requests and attestations; their shapes are a guess",
    variables: ["SVC_SANDBOX_PREVIEW"],
  },
  maxRequests: {
    spec: "--max-requests <number>",
    text: "how many requests are sent at most (default: 10)",
    read: readRequestCount,
    variables: ["SVC_SANDBOX_MAX_REQUESTS"],
  },
  timeout: {
    spec: "--timeout <duration>",
    text: "how long to wait for each answer: 500ms, 10s, 1m (default: 10s)",
    read: readDuration,
    variables: ["SVC_SANDBOX_TIMEOUT"],
  },
  probeLimits: {
    spec: "--probe-limits",
    text: "meet a limit on purpose: use the keys that are at theirs, and else up to per_minute + 1 requests of a working key, if --max-requests has room for them",
    variables: [],
  },
  // `PORT` is for the command, which may listen itself.
  execPort: {
    spec: "-p, --port <number>",
    text: "the port to listen on (default: 0, any free one)",
    read: readPort,
    variables: ["SVC_SANDBOX_PORT"],
  },
  execLog: {
    spec: "--log <format>",
    text: "how requests, and steps of the timeline and the story, are logged on stderr: pretty, json or off (default: off)",
    read: readLogFormat,
    variables: ["SVC_SANDBOX_LOG"],
  },
  report: {
    spec: "--report <file>",
    text: "write the report to this file and not to stderr, as its name ends: .json, .md, .xml (JUnit) or .txt; may be given more than once",
    read: readPath,
    repeatable: true,
    variables: ["SVC_SANDBOX_REPORT"],
  },
  ...storyFlags,
  ...fixtureFlags,
  json: { spec: "--json", text: "print JSON instead of text", variables: ["SVC_SANDBOX_JSON"] },
  force: { spec: "--force", text: "overwrite the file when it exists", variables: [] },
  quiet: {
    spec: "--quiet",
    text: "print as little as possible: no notes and no request log",
    variables: ["SVC_SANDBOX_QUIET"],
  },
  verbose: {
    spec: "--verbose",
    text: "print more: request ids in the log, stack traces of defects",
    variables: ["SVC_SANDBOX_VERBOSE"],
  },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;
