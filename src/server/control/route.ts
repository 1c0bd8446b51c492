import type { Request, Response } from "express";
import { isTooDeep, maxLevels, parsedJson } from "../../rules/schema/json.js";
import type { Shape, ValueOf } from "../../rules/schema/shape.js";
import * as s from "../../rules/schema/shape.js";
import type { Actor } from "../../sandbox/steps.js";
import type { ControlBody, ControlBodyName, Query } from "../../scenario/format/inputs.js";
import type { OpenScenario } from "../../scenario/parse-scenario.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { ControlPlace, SandboxPlace } from "../../store/store.js";
import type { Server } from "../sockets/server-state.js";
import { HttpRejection } from "./rejections.js";

/** The context of a route. */
export interface RouteContext<Body = unknown, Parameters = Readonly<Record<string, unknown>>>
  extends ControlPlace,
    RouteInput<Body, Parameters> {}

/** What a client sent, checked by the shapes of its route. */
export interface RouteInput<Body = unknown, Parameters = Readonly<Record<string, unknown>>> {
  readonly actor: Actor;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Parameters;
  /** The parsed body, or the scenario of a YAML body. */
  readonly body: Body;
  /** The document of the host that a scenario in the body names. */
  readonly document?: Scenario["openapi"];
}

export interface LocalContext extends SandboxPlace {
  readonly server: Server;
  readonly request: Request;
  readonly response: Response;
  /** Runs the synchronous part of some work on the account of the caller. */
  readonly measure: <Result>(work: () => Result) => Result;
}

export interface Route<
  Name extends ControlBodyName = ControlBodyName,
  Parameters extends Query = Query,
  Of extends Shape = Shape,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Has named parts in braces: `/keys/{ref}`. */
  readonly path: string;
  readonly summary: string;
  readonly body?: Name;
  readonly longestBody?: number;
  readonly query?: Parameters;
  readonly status: 200 | 201 | 204;
  /** The shape of its response's `data`, or of the whole response if it is bare; left out for 204, which has no body. */
  readonly response?: Of;
  readonly isBare?: true;
  /**
   * What it does: read or change its sandbox, read or change the list of instances, or neither: it is about this process, or its
   * response never changes. Default: a GET reads, any other changes.
   */
  readonly kind?: "read" | "change" | "instances" | "local";
  /** Whether its sandbox may keep more after it. Default: false. */
  readonly grows?: true;
  /** Whether its body names or has a scenario that starts. Default: false. */
  readonly startsScenario?: true;
  /** Returns the response: a value of its shape, or a `textResponse`. */
  readonly run: (
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>>,
    local: LocalContext,
  ) => Returned<Of>;
  /** Runs it with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: (context: RouteContext<OpenScenario>, local: LocalContext) => Returned<Of>;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a route that sends its response itself returns nothing
type Value<Of> = ValueOf<Of> | TextResponse | void;
type Returned<Of> = Value<Of> | Promise<Value<Of>>;

/** The fields of a query for a part of a list. `usual` is the number without a limit. */
export const pageFields = (usual: number | "all", limit = s.count()) => ({
  offset: s.optional(s.described(s.count(), "The index of the first one. Default: 0.")),
  limit: s.optional(s.described(limit, `At most this many. Default: ${usual}.`)),
});

const isText = Symbol("text response");

interface TextResponse {
  readonly [isText]: true;
  readonly type: string;
  readonly text: string;
}

export function textResponse(type: string, text: string): TextResponse {
  return { [isText]: true, type, text };
}

export function isTextResponse(response: unknown): response is TextResponse {
  return typeof response === "object" && response !== null && isText in response;
}

export function controlRoute<
  Name extends ControlBodyName = "nothing",
  Parameters extends Query = Query,
  Of extends Shape = Shape<void>,
>(
  call: `${Route["method"]} /${string}`,
  row: Omit<Route<Name, Parameters, Of>, "method" | "path" | "status"> & { readonly status?: 201 },
): Route {
  const [method, path] = call.split(" ") as [Route["method"], string];
  const status = row.status ?? (row.response === undefined ? 204 : 200);
  // Its body and query are checked by its own shapes before it runs.
  return { ...row, method, path, status } as unknown as Route;
}

export function textOf({ body }: Request): string {
  return new TextDecoder().decode(body as Buffer | undefined);
}

export function parseJson(text: string): unknown {
  const body = parsedJson(text);
  if (body === undefined) throw new HttpRejection("bad_request", "The body is not valid JSON.");
  if (!isTooDeep(body)) return body;
  throw new HttpRejection("bad_request", `The body is nested more than ${maxLevels} levels deep.`);
}
