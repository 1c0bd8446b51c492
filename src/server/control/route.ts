import type { Request, Response } from "express";
import { SandboxError } from "../../rules/errors.js";
import type { ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/inputs.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { ServerState } from "../sockets/server-state.js";

/** The named parts of a call's path: `ref` of `GET /keys/{ref}`. */
type PathParts<Call extends string> = Call extends `${string}{${infer Part}}${infer Rest}`
  ? Readonly<Record<Part, string>> & PathParts<Rest>
  : unknown;

/** The sandbox, and what a client sent, checked by the shapes of its route. */
interface RouteContext<
  Body = unknown,
  Parameters = Readonly<Record<string, unknown>>,
  Call extends string = string,
> {
  readonly sandbox: SandboxState;
  /** The named parts of the path, decoded. */
  readonly params: PathParts<Call>;
  readonly query: Parameters;
  /** The parsed body, or the scenario of a YAML body. */
  readonly body: Body;
}

/** The server and the HTTP call, for routes that are about them. */
interface LocalContext {
  readonly server: ServerState;
  readonly request: Request;
  readonly response: Response;
}

type Query = s.MappingKind & s.Shape<Readonly<Record<string, unknown>>>;

export interface Route<
  Name extends ControlBodyName = ControlBodyName,
  Parameters extends Query = Query,
  Call extends string = string,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Has named parts in braces: `/keys/{ref}`. */
  readonly path: string;
  readonly summary: string;
  readonly body?: Name;
  readonly query?: Parameters;
  /** Of a response with something new. Default: 200, or 204 for `undefined`. */
  readonly status?: 201;
  /** Whether its result is the whole response. Default: it is `data` in it. */
  readonly isBare?: true;
  /** Whether it changes the sandbox. Default: a GET does not, any other does. */
  readonly changes: boolean;
  /** Returns the response: plain data, whose members get their JSON names, or a `textResponse`. */
  readonly run: (
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>, Call>,
    local: LocalContext,
  ) => unknown;
  /** Runs it with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: (context: RouteContext<WrittenScenario>, local: LocalContext) => unknown;
}

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export const pageFields = (defaultLimit: number | "all", limit = s.count()) => ({
  offset: s.optional(s.described(s.count(), "The index of the first one. Default: 0.")),
  limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
});

const isText = Symbol("text response");

interface TextResponse {
  readonly [isText]: true;
  readonly type: string;
  readonly text: string;
}

/** The whole response as a text, in place of data. */
export function textResponse(type: string, text: string): TextResponse {
  return { [isText]: true, type, text };
}

/** JSON whose names are its own: they stay. */
export function jsonResponse(json: unknown): TextResponse {
  return textResponse("json", JSON.stringify(json));
}

export function isTextResponse(response: unknown): response is TextResponse {
  return typeof response === "object" && response !== null && isText in response;
}

/** A row of the routes. Its `run` gets the parts of its path, and the body and the query that its shapes have checked. */
export function controlRoute<
  const Call extends `${Route["method"]} /${string}`,
  Name extends ControlBodyName = "nothing",
  Parameters extends Query = Query,
>(
  call: Call,
  row: Omit<Route<Name, Parameters, Call>, "method" | "path" | "changes"> & { readonly changes?: false },
): Route {
  const [method, path] = call.split(" ") as [Route["method"], string];
  return { changes: method !== "GET", ...row, method, path } as unknown as Route;
}

/** An unknown ref is not found in a path, but invalid in a body. */
export function refInBody<Result>(field: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
    const { message, details } = error;
    throw new SandboxError("validation_failed", message, { ...details, fields: { [field]: message } });
  }
}
