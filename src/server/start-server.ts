import { fileURLToPath } from "node:url";
import { type SandboxOptions, sandboxOptions } from "../library/create-sandbox.js";
import type { OrganizationRef, SandboxSource, ScenarioKeyRef } from "../library/known-refs.js";
import type { Sandbox } from "../library/sandbox.js";
import { sandboxApi } from "../library/sandbox-api.js";
import { openScenario } from "../node/files/scenario-files.js";
import { nodePlatform } from "../node/platform.js";
import { requireKnownOptions, validationError } from "../rules/validation.js";
import { currentRun, type SandboxRun } from "../runs/current-run.js";
import { invocationOfServer } from "../sandbox/sandbox-state.js";
import { type LoadedScenario, type NamedScenario, resolveSource } from "../scenario/scenario-source.js";
import { checkShape } from "../schema/check.js";
import { libraryNotation } from "../schema/describe.js";
import * as s from "../schema/shape.js";
import { typeTag } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";
import type { ServerSettings } from "./listen.js";
import { openSandbox, type RunningServer, serve } from "./serve.js";

/** A scenario, or the file of one. An editor suggests the bundled names only with `string & {}` in place of `string`. */
type ServerSource = SandboxSource | URL | (string & {});

export interface ServerOptions<Source extends ServerSource = ServerSource>
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

/** The key for `await using`, if the caller's compiler supports it; others must not need its types. */
type AsyncDispose = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? Key
  : never;

/** A server with its sandbox. */
export interface SandboxServer<Key extends string = string, Organization extends string = string>
  extends RunningServer,
    Readonly<Record<AsyncDispose, () => Promise<void>>> {
  readonly sandbox: Sandbox<Key, Organization>;
}

/**
 * Starts a server with its own sandbox; resolves once it accepts requests.
 *
 * Throws the errors of `createSandbox` and {@link loadScenario}, `validation_failed` for another option that is not valid,
 * `usage` for `publicUrl` and `allowHosts`, `address_in_use`, `address_unavailable` and `certificate_unusable`. With a state file, throws
 * `state_unreadable`, `state_mismatch`, `state_in_use` or `state_unwritable`; `close` throws the last one if data is lost.
 *
 * @example
 * await using server = await startServer({ scenario: "key-states" });
 * const response = await fetch(`${server.url}/v1/relying-party/me`, {
 *   headers: { "x-api-key": server.sandbox.secret("active") },
 * });
 * response.status; // 200
 */
export function startServer<const Source extends SandboxSource>(
  // As in `createSandbox`.
  options: Omit<ServerOptions, "scenario"> & { readonly scenario: Source },
): Promise<SandboxServer<ScenarioKeyRef<Source>, OrganizationRef<Source>>>;
export function startServer(
  options?: ServerOptions<never>,
): Promise<SandboxServer<ScenarioKeyRef<"key-states">, OrganizationRef<"key-states">>>;
export function startServer(options: ServerOptions): Promise<SandboxServer>;
export async function startServer(options: ServerOptions = {}): Promise<SandboxServer> {
  requireOptions(options);
  const { scenario, state, ...rest } = options;
  const file = state === undefined ? undefined : nameOfFile(state, "start the server", "state");

  // The run of `exec` or `certify`, if any, sets what the options leave open.
  const run = currentRun();
  const source = await loadSource(scenario, run);
  const startedScenario = () => source;
  const startOptions = run?.optionsFor(rest) ?? rest;
  const isSecure = rest.tls !== undefined && rest.tls !== false;
  const settings = {
    source,
    options: startOptions,
    platform: nodePlatform,
    clientRun: run?.conditionedRun,
    invocation: invocationOfServer(isSecure),
  };
  const onProblem = rest.onDefect ?? (() => {});

  const { sandbox, stateFile } = await openSandbox(settings, { name: file, startedScenario, onProblem });
  run?.reportRequestsOf(sandbox);

  // `POST /stop` stops only the server: the process belongs to the caller, and continues.
  const running = await serve(sandbox, { ...rest, port: rest.port ?? 0, stateFile, startedScenario });
  return { ...running, sandbox: sandboxApi(() => sandbox), [Symbol.asyncDispose]: () => running.close() };
}

/** The options that only a server has, with their shapes. The code that reads them checks those that may be anything here. */
const shapesOfOptions: Readonly<
  Record<Exclude<keyof ServerOptions, keyof SandboxOptions>, s.Optional<s.Shape>>
> = {
  port: s.optional(s.integer({ max: 65_535 })),
  host: s.optional(s.text({ min: 1 })),
  tls: s.optional(s.either(s.flag(), s.openMapping({}))),
  publicUrl: s.optional(s.anything()),
  allowHosts: s.optional(s.list(s.text())),
  explain: s.optional(s.flag()),
  control: s.optional(s.flag()),
  controlToken: s.optional(s.text()),
  state: s.optional(s.anything()),
  onDefect: s.optional(s.anything()),
};

/** Throws `validation_failed` for an option of the server that is not valid. */
function requireOptions(options: ServerOptions): void {
  const attempt = "start the server";
  requireKnownOptions(attempt, options, [...sandboxOptions, ...Object.keys(shapesOfOptions)]);
  const { problems } = checkShape(s.openMapping(shapesOfOptions), options, libraryNotation);
  if (problems.length > 0) throw validationError(attempt, problems, libraryNotation);

  const { onDefect } = options;
  if (onDefect !== undefined && typeof onDefect !== "function") {
    const message = `onDefect must be a function, not ${quote(onDefect)}`;
    throw validationError(attempt, [{ field: ["onDefect"], message }]);
  }
}

/** Loads the scenario in the options. Default: the run's, or `key-states`. */
async function loadSource(
  source: ServerSource | undefined,
  run: SandboxRun | undefined,
): Promise<NamedScenario> {
  if (source === undefined) return run?.scenario ?? loadScenario("key-states");
  const isFile = typeof source === "string" || typeTag(source) === "URL";
  if (isFile) return loadScenario(nameOfFile(source, "start the server", "scenario"));
  return resolveSource(source as LoadedScenario); // it checks any other value
}

/**
 * Loads a scenario by its bundled name, or from a file. A bundled name wins, `./name` is a file, as is a `file:` URL. What it returns is a scenario for `createSandbox` and `startServer`.
 *
 * Throws `scenario_not_found`, `file_unreadable`, or a `ScenarioError`; `validation_failed` for what is neither.
 */
export async function loadScenario(
  nameOrFile: string | URL,
  options: { readonly cwd?: string | URL } = {},
): Promise<LoadedScenario> {
  requireKnownOptions("load the scenario", options, ["cwd"]);
  const cwd = options.cwd === undefined ? undefined : nameOfFile(options.cwd, "load the scenario", "cwd");
  const name = nameOfFile(nameOrFile, "load the scenario", "file");
  const { loaded } = await openScenario(name, { cwd });
  // Its places would keep the texts of its files in memory.
  const { locate, ...scenario } = loaded;
  return scenario;
}

/** The name of a file or folder that a caller gives, also as a URL. Throws `validation_failed` for the field. */
function nameOfFile(file: unknown, attempt: string, field: string): string {
  if (typeof file === "string") return file;
  const isOfFile = typeTag(file) === "URL" && String(file).startsWith("file:");
  if (!isOfFile) {
    const message = `${field} must be a name or a file: URL, not ${quote(file)}`;
    throw validationError(attempt, [{ field: [field], message }]);
  }
  try {
    return fileURLToPath(file as URL); // its protocol is that of files
  } catch {
    const message = `${field} is no file of this machine: ${quote(String(file))}`;
    throw validationError(attempt, [{ field: [field], message }]);
  }
}
