import type { Socket } from "node:net";
import type { Request, Response } from "express";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/inputs.js";
import type { NamedScenario } from "../../scenario/scenario-source.js";
import type { MappingKind, Shape, ValueOf } from "../../schema/shape.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import type { ServeOptions } from "../listen.js";

/** What the control plane knows of the server that it belongs to, and of the program around that. */
export interface ControlServer {
  readonly sandbox: SandboxState;
  readonly options: ServeOptions;
  readonly startedAt: number;
  /** Tells this start of the server from others. */
  readonly startId: number;

  /** Whether only this machine reaches the server. */
  readonly isLocal: boolean;
  /** The server's names besides this machine's own, in lower case, some with a port. */
  readonly allowedHosts: readonly string[];
  /** The bearer token that calls require; `undefined` for none. */
  readonly controlToken: string | undefined;
  readonly openConnections: ReadonlySet<Socket>;
  /** Aborted when the server is about to stop. */
  readonly stopping: AbortSignal;

  // With the defaults of `ServeOptions`.
  readonly startedScenario: () => NamedScenario;
  readonly stop: () => void;
  readonly onDefect: (error: unknown) => void;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type QueryShape = MappingKind & Shape<Readonly<Record<string, unknown>>>;

/** What a route works on: the sandbox, its server, what a client sent, checked by the shapes of the route, and the HTTP call. */
export interface RouteContext<Body = unknown, QueryValues = unknown> {
  readonly sandbox: SandboxState;
  readonly server: ControlServer;
  /** The named parts of a path, decoded. A route has only those of its own path. */
  readonly params: Readonly<Record<"ref" | "id" | "page" | "farmer_id", string>>;
  readonly query: QueryValues;
  /** The checked value of a JSON body. */
  readonly body: Body;
  /** The text of a body in YAML, in place of the value in `body`; `undefined` for JSON. */
  readonly yaml: string | undefined;
  readonly request: Request;
  readonly response: Response;
}

/** A method and a path of the control plane, and what they do. */
export interface Route {
  readonly method: Method;
  /** Has named parts in braces: `/keys/{ref}`. */
  readonly path: string;
  readonly summary: string;
  /** The name of the JSON body's shape. Default: it takes no body. */
  readonly body: ControlBodyName | undefined;
  readonly query: QueryShape | undefined;
  /** Whether it changes the sandbox, so that its state is saved. */
  readonly changes: boolean;
  /** Whether the members `secret` and `keys` of its response have full keys. No other text of a response has one (R46). */
  readonly showsSecret: boolean;
  /** Whether its body may also be YAML. */
  readonly acceptsYaml: boolean;
  /** A method: the contexts of rows have what the shapes of their route have checked. */
  run(context: RouteContext): RouteResult | Promise<RouteResult>;
}

/** What a route responds with. Its errors are thrown, and `sendControlError` responds to them. */
export type RouteResult =
  | { readonly kind: "json"; readonly status: 200 | 201; readonly json: object }
  /** `type`: the media type. */
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  /** For browsers. A 404 is the page in place of one that does not exist. */
  | {
      readonly kind: "page";
      readonly status: 200 | 404;
      /** The extension of its file. */
      readonly type: string;
      readonly content: string | Buffer;
    }
  | { readonly kind: "redirect"; readonly to: string }
  /** A 204. */
  | { readonly kind: "nothing" };

/** A route as it is written. What its `run` gets has the types of the shapes of its body and its query. */
interface RouteRow<BodyName extends ControlBodyName, Queried extends QueryShape> {
  readonly summary: string;
  readonly body?: BodyName;
  readonly query?: Queried;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  /** Default: false. */
  readonly showsSecret?: true;
  /** Default: false. */
  readonly acceptsYaml?: true;
  readonly run: (
    context: RouteContext<ControlBody<BodyName>, ValueOf<Queried>>,
  ) => RouteResult | Promise<RouteResult>;
}

/** Makes a route of a call, such as `PATCH /organizations/{ref}`, and its row. */
export function controlRoute<
  BodyName extends ControlBodyName = "nothing",
  Queried extends QueryShape = QueryShape,
>(call: `${Method} /${string}`, row: RouteRow<BodyName, Queried>): Route {
  const [method, path] = call.split(" ") as [Method, string]; // a call is written so
  const changes = row.changes ?? method !== "GET";
  const { summary, body, query, showsSecret = false, acceptsYaml = false, run } = row;
  return { method, path, summary, body, query, changes, showsSecret, acceptsYaml, run };
}

/** The usual response, which is `{ "data": … }`; the members get their JSON names. `status`: 201 for something new. */
export function dataResult(data: unknown, status: 200 | 201 = 200): RouteResult {
  return { kind: "json", status, json: { data: membersToSnakeCase(data) } };
}

/** Runs an operation with a ref of the body. An unknown ref is not found in a path, but invalid in a body. */
export function refInBody<Result>(field: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
    const { message, details } = error;
    throw new SandboxError("validation_failed", message, { ...details, fields: { [field]: message } });
  }
}
