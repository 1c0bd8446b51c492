import type { Request, Response } from "express";
import type { ControlCall, ControlPlace } from "../log/log.js";
import type { ControlBody, ControlBodyName, Query } from "../scenario/format/control-bodies.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import type { ControlContext, ControlSurroundings } from "../server/http-server.js";
import type { Actor } from "../world/operations/initiator.js";
import type { World } from "../world/world.js";

/** The context in which a route runs. With a shared store that is the same on every replica, but for the base URL. */
export interface RouteContext<Body = unknown, Parameters = Readonly<Record<string, unknown>>>
  extends Pick<ControlPlace, "runtime" | "instances" | "baseUrl" | "newSecret"> {
  /** The world that runs. */
  readonly world: World;
  readonly actor: Actor;
  /** The name of the caller, where a trusted proxy has signed them in. */
  readonly owner?: string | undefined;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Parameters;
  readonly body: Body;
}

/** The server and the exchange of a call, for routes that this process alone runs. */
export interface LocalContext extends Pick<ControlContext, "gone"> {
  readonly server: ControlSurroundings;
  readonly request: Request;
  readonly response: Response;
}

/** One route of the control plane: its handler, its 405, its checks and its description are made from it. */
export interface Route<Name extends ControlBodyName = ControlBodyName, Parameters extends Query = Query> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With named parts in braces: `/keys/{ref}`. */
  readonly path: string;
  readonly summary: string;
  /** Whether it is about records that only worlds with the preview have (R49). Default: false. */
  readonly preview?: true;
  /** The name of its body's shape; left out for routes that take no body. */
  readonly body?: Name;
  /** The parameters of its query; left out for routes that look at none. */
  readonly query?: Parameters;
  readonly status: 200 | 201 | 204;
  /** The shape of its answer's `data`, or of the whole answer where that is bare; left out with 204, which has no body. */
  readonly answer?: Shape;
  readonly isBare?: true;
  /** The content types it answers in. Default: JSON alone. */
  readonly types?: readonly string[];
  /**
   * Whether it is about this process, or the same at any time: with a shared store too, it is run where it came in, and
   * may send its answer itself. Default: false, and with a store a write is run on every replica.
   */
  readonly isLocal?: true;
  /** What it makes that is random. Default: nothing. */
  readonly makes?: ControlCall["makes"];
  /**
   * Changes the body where the call comes in, before it is kept: adds what only this server knows, and puts the hash in the
   * place of a secret. Default: leaves it.
   */
  readonly prepare?: (body: ControlBody<Name>, server: ControlSurroundings) => ControlBody<Name>;
  /** Adds to the answer what is in no log, where the call came in. Default: nothing. */
  readonly complete?: (answer: { readonly id: string }, server: ControlSurroundings) => Promise<unknown>;
  /** Returns the answer; a text that is no JSON by `textAnswer`. */
  readonly run: (
    context: RouteContext<ControlBody<Name>, ValueOf<Parameters>>,
    local: LocalContext,
  ) => unknown;
  /** Runs it with a body sent as YAML; left out where only JSON is accepted. */
  readonly runYaml?: (context: RouteContext<string>) => unknown;
}

type Method = Route["method"];

const isText = Symbol("text answer");

/** An answer that is no JSON. */
export interface TextAnswer {
  readonly [isText]: true;
  readonly type: string;
  readonly text: string;
}

export function textAnswer(type: string, text: string): TextAnswer {
  return { [isText]: true, type, text };
}

export function isTextAnswer(answer: unknown): answer is TextAnswer {
  return typeof answer === "object" && answer !== null && isText in answer;
}

/** A row of the table as it is written: only a local one gets the exchange. */
type Row<Name extends ControlBodyName, Parameters extends Query> = Omit<
  Route<Name, Parameters>,
  "method" | "path" | "status" | "run" | "isLocal"
> & { readonly status?: 201 } & (
    | { readonly isLocal: true; readonly run: Route<Name, Parameters>["run"] }
    | {
        readonly isLocal?: never;
        readonly run: (context: RouteContext<ControlBody<Name>, ValueOf<Parameters>>) => unknown;
      }
  );

/** Makes a row of the table; `run` knows the types of body and query. Status: 200, or 204 without an answer, unless given. */
export function route<Name extends ControlBodyName = "nothing", Parameters extends Query = Query>(
  call: `${Method} /${string}`,
  row: Row<Name, Parameters>,
): Route {
  const [method, path] = call.split(" ") as [Method, string];
  const status = row.status ?? (row.answer === undefined ? 204 : 200);
  return { ...row, method, path, status } as unknown as Route;
}
