import type { Request, Response } from "express";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { ControlBodyName } from "../../scenario/format/inputs.js";
import type { WrittenScenario } from "../../scenario/written-scenario.js";
import type { MappingKind, Shape } from "../../schema/shape.js";
import type { ControlServer } from "./control-server.js";
import type { RouteResult } from "./route-result.js";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type QueryShape = MappingKind & Shape<Readonly<Record<string, unknown>>>;

/** What a route works on: the sandbox, and what a client sent, checked by the shapes of the route. */
export interface RouteContext<Body = unknown, QueryValues = unknown, Params = unknown> {
  readonly sandbox: SandboxState;
  /** The named parts of the path, decoded. */
  readonly params: Params;
  readonly query: QueryValues;
  /** The parsed body, or the scenario of a YAML body. */
  readonly body: Body;
}

/** The HTTP call and the server that gets it, for routes that are about them. */
export interface HttpCall {
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
  readonly query: QueryShape | undefined;
  /** Whether it changes the sandbox, so that its state is saved. */
  readonly changes: boolean;
  readonly run: (context: RouteContext, call: HttpCall) => RouteResult | Promise<RouteResult>;
  /** Runs the route with a YAML body; `undefined` if it accepts only JSON. */
  readonly runYaml:
    | ((context: RouteContext<WrittenScenario>, call: HttpCall) => RouteResult | Promise<RouteResult>)
    | undefined;
}
