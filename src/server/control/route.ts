import type { Socket } from "node:net";
import type { Request, Response } from "express";
import { SandboxError } from "../../rules/errors.js";
import { checkedCopy } from "../../rules/validation.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/inputs.js";
import type { NamedScenario } from "../../scenario/scenario-source.js";
import { queryNotation } from "../../schema/notation.js";
import type { MappingKind, Shape, ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
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
export interface RouteContext<Body = unknown, QueryValues = unknown, Params = unknown> {
  readonly sandbox: SandboxState;
  readonly server: ControlServer;
  /** The named parts of the path, decoded. */
  readonly params: Params;
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

// A route is written as a call, such as `PATCH /organizations/{ref}`, and a row with the shapes of its body and its query. The types
// of what its `run` gets follow from the two:
//
//     body: "key_creation"        body: the type of that shape
//     query: s.mapping({ … })     query: the type of that shape
//     /organizations/{ref}        params: { ref: string }
//
// `dataRoute` is for the usual response, which is `{ "data": … }`, and `controlRoute` for any other.

/** The named parts of a path, each a text: `{ ref: string }` for `/keys/{ref}`. */
type ParamsOf<Address extends string> = Address extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown;

/** A route as it is written. `Result`: what its functions return. */
interface RouteRow<
  Result,
  BodyName extends ControlBodyName,
  Queried extends QueryShape,
  Address extends string,
> {
  readonly summary: string;
  readonly body?: BodyName;
  readonly query?: Queried;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  /** Default: false. */
  readonly showsSecret?: true;
  /** Default: false. */
  readonly acceptsYaml?: true;
  readonly run: (context: RouteContext<ControlBody<BodyName>, ValueOf<Queried>, ParamsOf<Address>>) => Result;
}

/** Makes a route whose row returns its result. */
export function controlRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  Queried extends QueryShape = QueryShape,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<RouteResult | Promise<RouteResult>, BodyName, Queried, Address>,
): Route {
  const [method, path] = call.split(" ") as [Method, Address]; // a call is written so
  const changes = row.changes ?? method !== "GET";
  const { summary, body, query, showsSecret = false, acceptsYaml = false, run } = row;
  return { method, path, summary, body, query, changes, showsSecret, acceptsYaml, run };
}

/** Makes a route whose row returns the data of its response. `status`: that of a response with something new. */
export function dataRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  Queried extends QueryShape = QueryShape,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<unknown, BodyName, Queried, Address> & { readonly status?: 201 },
): Route {
  const { status = 200, run } = row;
  return controlRoute<Address, BodyName, Queried>(call, {
    ...row,
    // The members get their JSON names.
    run: (context) => ({ kind: "json", status, json: { data: membersToSnakeCase(run(context)) } }),
  });
}

/** The most rows of a list in one response: more would delay everybody's requests. */
export const maxListed = 1000;

/** The field of a query for at most so many rows of a list. `usual` is the number without it. */
export function limitField(usual = maxListed) {
  const limit = s.integer({ max: maxListed });
  return s.optional(s.described(limit, `At most this many. Default: ${usual}.`));
}

/** The fields of a query for a part of a list. */
export function pageFields(usual = maxListed) {
  const offset = s.described(s.integer(), "The index of the first one. Default: 0.");
  return { offset: s.optional(offset), limit: limitField(usual) };
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

/** The parameters of a query as values, checked by the route's shape. */
export function checkedQuery(
  route: Route,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { query } = route;
  if (query === undefined) return {};

  const values: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const field = query.fields[name];
    const isText = field !== undefined && s.shapeOfField(field).kind === "text";
    // Anything but a number or a flag is unchanged: the shape of its field rejects it.
    let read: unknown = value;
    if (!isText && typeof value === "string") {
      if (/^\d+$/.test(value)) read = Number(value);
      else if (value === "true" || value === "false") read = value === "true";
    }
    values.push([name, read]);
  }
  return checkedCopy(query, Object.fromEntries(values), "read the query", queryNotation);
}
