import type { Request, Response } from "express";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/control-bodies.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import type { ControlServer } from "./control-server.js";
import type { RouteResult } from "./route-result.js";

// A route is written as a call, such as `PATCH /organizations/{ref}`, and a row with the shapes of its body and its query. The types
// of what its `run` gets follow from the row:
//
//     body: "key_creation"        body: the type of that shape
//     query: s.mapping({ … })     query: the type of that shape
//     /organizations/{ref}        params: { ref: string }
//
// `checkCall` has checked all of it before `run`. `dataRoute` is for the usual response, which is `{ "data": … }`, and `controlRoute`
// for any other.

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The shape of a query. */
type Query = s.MappingKind & s.Shape<Readonly<Record<string, unknown>>>;

/** What a route works on: the sandbox, and what a client sent, checked by the shapes of the route. */
interface RouteContext<Body = unknown, QueryValues = unknown, Params = unknown> {
  readonly sandbox: SandboxState;
  /** The named parts of the path, decoded. */
  readonly params: Params;
  readonly query: QueryValues;
  /** The parsed body, or the scenario of a YAML body. */
  readonly body: Body;
}

/** The HTTP call and the server that gets it, for routes that are about them. */
interface HttpCall {
  readonly server: ControlServer;
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
  readonly query: Query | undefined;
  /** Whether it changes the sandbox, so that its state is saved. */
  readonly changes: boolean;
  readonly run: (context: RouteContext, call: HttpCall) => RouteResult | Promise<RouteResult>;
  /** Runs the route with a YAML body; `undefined` if it accepts only JSON. */
  readonly runYaml:
    | ((context: RouteContext<WrittenScenario>, call: HttpCall) => RouteResult | Promise<RouteResult>)
    | undefined;
}

/** The named parts of a path, each a text: `{ ref: string }` for `/keys/{ref}`. */
type ParamsOf<Address extends string> = Address extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown;

/** A route as it is written. `Result`: what its functions return. */
interface RouteRow<
  Result,
  BodyName extends ControlBodyName,
  QueryShape extends Query,
  Address extends string,
> {
  readonly summary: string;
  readonly body?: BodyName;
  readonly query?: QueryShape;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  readonly run: (
    context: RouteContext<ControlBody<BodyName>, ValueOf<QueryShape>, ParamsOf<Address>>,
    call: HttpCall,
  ) => Result;
  /** Runs the route with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: ((context: RouteContext<WrittenScenario>, call: HttpCall) => Result) | undefined;
}

/** Makes a route whose row returns its result. */
export function controlRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  QueryShape extends Query = Query,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<RouteResult | Promise<RouteResult>, BodyName, QueryShape, Address>,
): Route {
  const [method, path] = call.split(" ") as [Method, Address]; // a call is written so
  const run = row.run as Route["run"]; // it gets only what was checked by the shapes of its row
  const changes = row.changes ?? method !== "GET";
  const { summary, body, query, runYaml } = row;
  return { method, path, summary, body, query, changes, run, runYaml };
}

/** Makes a route whose row returns the data of its response. `status`: that of a response with something new. */
export function dataRoute<
  const Address extends `/${string}`,
  BodyName extends ControlBodyName = "nothing",
  QueryShape extends Query = Query,
>(
  call: `${Method} ${Address}`,
  row: RouteRow<unknown, BodyName, QueryShape, Address> & { readonly status?: 201 },
): Route {
  const { status = 200, run, runYaml } = row;
  return controlRoute<Address, BodyName, QueryShape>(call, {
    ...row,
    run: (context, httpCall) => dataResult(run(context, httpCall), status),
    runYaml: runYaml && ((context, httpCall) => dataResult(runYaml(context, httpCall), status)),
  });
}

/** The response with data, whose members get their JSON names. */
function dataResult(data: unknown, status: 200 | 201): RouteResult {
  return { kind: "json", status, json: { data: membersToSnakeCase(data) } };
}

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export function pageFields(defaultLimit: number | "all", limit = s.integer()) {
  return {
    offset: s.optional(s.described(s.integer(), "The index of the first one. Default: 0.")),
    limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
  };
}
