import type { Request, Response } from "express";
import { SandboxError } from "../../rules/errors.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/control-bodies.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import type { ControlServer } from "./control-server.js";

// A route is written with `controlRoute`: a call such as `PATCH /organizations/{ref}`, and a row with the shapes of its body and its
// query. What its `run` gets has the types of these shapes and of the parts of that path; `app.ts` has checked it before. All routes
// are in one list, which knows no types of inputs: `Route`.

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

/** What a route says besides its call and its input. */
interface RouteSettings {
  readonly summary: string;
  /** Of a response with something new. Default: 200, or 204 for `undefined`. */
  readonly status?: 201;
  /** Whether its result is the whole response. Default: it is `data` in it. */
  readonly isBare?: true;
  /** Runs the route with a YAML body; left out if it accepts only JSON. */
  runYaml?(context: RouteContext<WrittenScenario>, call: HttpCall): unknown;
}

/** A method and a path of the control plane, and what they do. */
export interface Route extends RouteSettings {
  readonly method: Method;
  /** Has named parts in braces: `/keys/{ref}`. */
  readonly path: string;
  /** The name of the JSON body's shape. Default: it takes no body. */
  readonly body?: ControlBodyName;
  readonly query?: Query;
  /** Whether it changes the sandbox, so that its state is saved. */
  readonly changes: boolean;
  // A method and no member with a function: only of a method may the parameter be narrower, and a row's has the types of its input.
  /** Returns the response: plain data, whose members get their JSON names, or a `TextResponse`. */
  run(context: RouteContext, call: HttpCall): unknown;
}

/** A route as it is written: its shapes and its path give the types of what `run` gets. */
interface RouteRow<Name extends ControlBodyName, Parameters extends Query, Template extends string>
  extends RouteSettings {
  readonly body?: Name;
  readonly query?: Parameters;
  /** Default: a GET does not, any other does. */
  readonly changes?: false;
  run(
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>, PathParts<Template>>,
    call: HttpCall,
  ): unknown;
}

/** The named parts of a path, each a text: `{ ref: string }` for `/keys/{ref}`. */
type PathParts<Template extends string> = Template extends `${string}{${infer Part}}${infer Rest}`
  ? Readonly<Record<Part, string>> & PathParts<Rest>
  : unknown;

/** Makes a route of its call, which is a method and a path such as `GET /keys/{ref}`, and its row. */
export function controlRoute<
  const Template extends `/${string}`,
  Name extends ControlBodyName = "nothing",
  Parameters extends Query = Query,
>(call: `${Method} ${Template}`, row: RouteRow<Name, Parameters, Template>): Route {
  const [method, path] = call.split(" ") as [Method, Template];
  return { changes: method !== "GET", ...row, method, path };
}

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export function pageFields(defaultLimit: number | "all", limit = s.integer()) {
  return {
    offset: s.optional(s.described(s.integer(), "The index of the first one. Default: 0.")),
    limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
  };
}

/** A whole response as a text, in place of data. */
export class TextResponse {
  constructor(
    readonly type: string,
    readonly text: string,
  ) {}
}

/** A response as JSON whose names are its own: they stay. */
export function jsonResponse(json: unknown): TextResponse {
  return new TextResponse("json", JSON.stringify(json));
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

/** What the handlers of one call tell each other. */
interface CallNotes {
  /** Whether the caller has the token, or needs none. */
  isAdmitted?: boolean;
  /** The code of the error that it got. */
  errorCode?: string | undefined;
}

export function callNotesOn(response: Response): CallNotes {
  return response.locals;
}
