import type { ScenarioSource } from "../library/checked-options.js";
import { type SandboxOptions, sandboxOptions } from "../library/create-sandbox.js";
import type { Logger } from "../node/logger.js";
import { requireKnownOptions, validationError } from "../rules/validation.js";
import type { LoadedScenario, NamedScenario } from "../scenario/scenario-source.js";
import { checkShape } from "../schema/check.js";
import { libraryNotation } from "../schema/notation.js";
import * as s from "../schema/shape.js";
import { quote } from "../schema/words.js";
import type { CertificatePair } from "./sockets/tls.js";
import type { StateFile } from "./state-file.js";

/** How a user sets up a server. */
interface ServerSettings {
  /** 0: any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Serves HTTPS with a certificate and its key (PEM), or with a self-signed one if `true`. Default: HTTP. */
  readonly tls?: boolean | CertificatePair;
  /**
   * The base URL for clients, if it differs from the server's own address: behind a proxy, in a container, on another
   * machine. Default: the server's own.
   */
  readonly publicUrl?: string | URL;
  /** Hosts that the control plane accepts on a loopback address, besides this machine's names and the host of `publicUrl`. */
  readonly allowHosts?: readonly string[];
  /** Whether API responses have `X-Sandbox-Outcome`. Default: false. */
  readonly explain?: boolean;
  /** Whether the control plane is served. Default: true. */
  readonly control?: boolean;
  /** The bearer token of the control plane. Default: none on a loopback address, a random one on others. */
  readonly controlToken?: string;
  /** Called with a defect of the sandbox; the client got a 500. Default: ignored. */
  readonly onDefect?: (error: unknown) => void;
}

/** What `serve` gets: the settings, and what belongs to the program around the server. */
export interface ServeOptions extends ServerSettings {
  /** The scenario that the server was started with, as its file is now. Default: the one that the sandbox runs at first. */
  readonly startedScenario?: () => NamedScenario;
  /** The file that keeps the sandbox. The server closes it. Default: the sandbox is not kept. */
  readonly stateFile?: StateFile | undefined;
  /** Stops the server, and its process if that serves nothing else. Default: only the server. */
  readonly stop?: () => void;
  /** Called before each call of the control plane: other processes may have added requests. */
  readonly beforeControlCall?: () => void;
  /** Called for each call of the control plane with a writing method, and each rejected token, once its response is known. */
  readonly onControlCall?: Logger["controlCall"];
  /** How the user starts svc-sandbox, for messages. Default: by its name. */
  readonly program?: string;
}

// An editor suggests the bundled names only with `string & {}` in place of `string`.
export interface ServerOptions<Source = ScenarioSource | (string & {})>
  extends Partial<ServerSettings>,
    Omit<SandboxOptions, "scenario"> {
  /** A bundled name, a scenario file, also as a URL, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: 0, any free port. */
  readonly port?: number;
  /**
   * A file that keeps the sandbox for the next start, with its requests. If it exists, the sandbox continues
   * from it and ignores the options `seed`, `now`, `frozen` and `profile`. Default: none.
   */
  readonly state?: string | URL;
}

/** What the option `scenario` may be, in any of the signatures. */
export type ServerSource = ServerOptions["scenario"] | LoadedScenario | URL;

/** The options that are checked by the code that reads them. */
type CheckedLater = "publicUrl" | "onDefect";

/** The shapes of the options that only a server has: without its shape, a setting would be an unknown option. */
const shapesOfOptions = {
  port: s.optional(s.integer({ max: 65_535 })),
  host: s.optional(s.text({ min: 1 })),
  explain: s.optional(s.flag()),
  control: s.optional(s.flag()),
  controlToken: s.optional(s.text()),
  tls: s.optional(s.either(s.flag(), s.openMapping({}))),
  allowHosts: s.optional(s.list(s.text())),
} satisfies Readonly<Record<Exclude<keyof ServerSettings, CheckedLater>, object>>;

/** All options: those with a shape here, and those that are checked by the code that reads them. */
const namesOfOptions: readonly string[] = [
  ...sandboxOptions,
  ...Object.keys(shapesOfOptions),
  "state",
  "publicUrl",
  "onDefect",
];

/** Throws `validation_failed` for an option of the server that is not valid. */
export function requireOptions(options: Omit<ServerOptions, "scenario">): void {
  requireKnownOptions("start the server", options, namesOfOptions);
  const withShape = Object.entries(options).filter(([name]) => Object.hasOwn(shapesOfOptions, name));
  const { problems } = checkShape(s.mapping(shapesOfOptions), Object.fromEntries(withShape), libraryNotation);
  if (problems.length > 0) throw validationError("start the server", problems);

  const { onDefect } = options;
  if (onDefect !== undefined && typeof onDefect !== "function") {
    const message = `onDefect must be a function, not ${quote(onDefect)}`;
    throw validationError("start the server", [{ field: ["onDefect"], message }]);
  }
}
