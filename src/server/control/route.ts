import type { Request, Response } from "express";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { Actor } from "../../sandbox/steps.js";
import type { ControlBody, ControlBodyName, Query } from "../../scenario/format/inputs.js";
import { isTooDeep, maxLevels, parsedJson } from "../../spec/schema/json.js";
import { count, described, optional, type Shape, type ValueOf } from "../../spec/schema/shape.js";
import type { ControlCall, ControlPlace } from "../../store/store.js";
import type { CallTarget, Server } from "../sockets/server-state.js";
import { HttpRejection } from "./rejections.js";

/** The context of a route. With a shared store, it is the same on every replica, except the base URL. */
export interface RouteContext<Body = unknown, Parameters = Readonly<Record<string, unknown>>>
  extends Pick<ControlPlace, "sandbox" | "instances" | "baseUrl">,
    Pick<ControlCall, "document"> {
  readonly sandbox: SandboxState;
  readonly actor: Actor;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Parameters;
  readonly body: Body;
}

export interface LocalContext extends CallTarget {
  readonly server: Server;
  readonly request: Request;
  readonly response: Response;
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
  readonly types?: readonly string[];
  /** Whether it is about this process, or never changes. With a store, other writes run on every replica. Default: false. */
  readonly isLocal?: true;
  /** Whether it is about the list of instances: it runs only in the process that got the call. Default: false. */
  readonly isOfInstances?: true;
  /** Whether it changes nothing, although it is no GET. Default: false. */
  readonly isReading?: true;
  /** Whether its body names or has a scenario that starts. Default: false. */
  readonly startsScenario?: true;
  /** Returns the response: a value of its shape, or a `textResponse`. Only routes that run in one process get `local`. */
  readonly run: (
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>>,
    local: LocalContext,
  ) => Returned<Of>;
  /** Runs it with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: (context: RouteContext<string>, local: LocalContext) => Returned<Of>;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a route that sends its response itself returns nothing
type Value<Of> = ValueOf<Of> | TextResponse | void;
type Returned<Of> = Value<Of> | Promise<Value<Of>>;

/** The fields of a query for a part of a list. `usual` is the number without a limit. */
export const pageFields = (usual: number | "all", limit = count()) => ({
  offset: optional(described(count(), "The index of the first one. Default: 0.")),
  limit: optional(described(limit, `At most this many. Default: ${usual}.`)),
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
