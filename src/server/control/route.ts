import type { Request, Response } from "express";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/control-bodies.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { membersToSnakeCase } from "../../schema/spelling.js";
import type { ControlServer } from "./control-server.js";
import type { RouteResult } from "./route-result.js";

// A route is written with its call, such as `PATCH /organizations/{ref}`, and a row with the shapes of its body and its query. What
// its `run` gets has the types of these shapes and of the parts of that path; `app.ts` has checked it before. `dataRoute` is for the
// usual response, which is `{ "data": … }`, and `controlRoute` for any other. All routes are in one list of `Route`, which has no
// types of inputs.

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The shape of a query. */
type Query = s.MappingKind & s.Shape<Readonly<Record<string, unknown>>>;

/** What a route works on: the sandbox, and what a client sent, checked by the shapes of the route. */
interface RouteContext<Body = unknown, Parameters = unknown, Parts = unknown> {
  readonly sandbox: SandboxState;
  /** The named parts of the path, decoded. */
  readonly params: Parts;
  readonly query: Parameters;
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
  readonly body?: ControlBodyName;
  readonly query?: Query;
  /** Whether it changes the sandbox, so that its state is saved. */
  readonly changes: boolean;
  readonly run: (context: RouteContext, call: HttpCall) => RouteResult | Promise<RouteResult>;
  /** Runs the route with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: (context: RouteContext<WrittenScenario>, call: HttpCall) => RouteResult;
}

/** The named parts of a path, each a text: `{ ref: string }` for `/keys/{ref}`. */
type PathParts<Template extends string> = Template extends `${string}{${infer Part}}${infer Rest}`
  ? Readonly<Record<Part, string>> & PathParts<Rest>
  : unknown;

/** A route as it is written: its shapes and its path give the types of what `run` gets. */
interface RouteRow<Result, Name extends ControlBodyName, Parameters extends Query, Template extends string> {
  readonly summary: string;
  readonly body?: Name;
  readonly query?: Parameters;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  readonly run: (
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>, PathParts<Template>>,
    call: HttpCall,
  ) => Result;
}

/** A row whose functions return data, whose members get their JSON names. */
interface DataRow<Name extends ControlBodyName, Parameters extends Query, Template extends string>
  extends RouteRow<unknown, Name, Parameters, Template> {
  /** Of a response with something new. Default: 200. */
  readonly status?: 201;
  /** Runs the route with a YAML body; left out if it accepts only JSON. */
  readonly runYaml?: (context: RouteContext<WrittenScenario>, call: HttpCall) => unknown;
}

/** Makes a route of its call, which is a method and a path such as `GET /keys/{ref}`, and its row. */
export function controlRoute<
  const Template extends `/${string}`,
  Name extends ControlBodyName = "nothing",
  Parameters extends Query = Query,
>(
  call: `${Method} ${Template}`,
  row: RouteRow<RouteResult | Promise<RouteResult>, Name, Parameters, Template>,
): Route {
  const [method, path] = call.split(" ") as [Method, Template]; // a call is written so
  const run = row.run as Route["run"]; // it gets only what was checked by the shapes of its row
  return { changes: method !== "GET", ...row, run, method, path };
}

/** Makes a route whose response is `{ "data": … }`, with the data that its row returns. */
export function dataRoute<
  const Template extends `/${string}`,
  Name extends ControlBodyName = "nothing",
  Parameters extends Query = Query,
>(call: `${Method} ${Template}`, row: DataRow<Name, Parameters, Template>): Route {
  const { run, runYaml, status = 200, ...settings } = row;
  const resultOf = (data: unknown): RouteResult => {
    return { kind: "json", status, json: { data: membersToSnakeCase(data) } };
  };

  const route = controlRoute<Template, Name, Parameters>(call, {
    ...settings,
    run: (context, httpCall) => resultOf(run(context, httpCall)),
  });
  if (runYaml === undefined) return route;
  return { ...route, runYaml: (context, httpCall) => resultOf(runYaml(context, httpCall)) };
}

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export function pageFields(defaultLimit: number | "all", limit = s.integer()) {
  return {
    offset: s.optional(s.described(s.integer(), "The index of the first one. Default: 0.")),
    limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
  };
}
