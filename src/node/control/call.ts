import type { JsonSchema } from "../../api/endpoint.js";
import type { Actor } from "../../sandbox/operations/check-input.js";
import type { Runtime } from "../../sandbox/runtime.js";
import type { ControlBody, ControlBodyName } from "../../scenario/format/control-bodies.js";
import type { Instances } from "./instances.js";

/** What a call of the control plane works with. */
export interface CallContext<Body> {
  readonly runtime: Runtime;
  readonly actor: Actor;
  /** The parts of the path that have names, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Body;
  /** The server's instances; `undefined` inside an instance, which has none of its own. */
  readonly instances: Instances | undefined;
}

/** An answer that is sent as it is, in the place of JSON. */
export interface WrittenAnswer {
  readonly type: string;
  readonly text: string;
}

/** One call of the control plane: a row from which its route, its 405, its checks and its description are made. */
export interface ControlCall<Name extends ControlBodyName = ControlBodyName> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts in braces have names: `/keys/{ref}`. */
  readonly path: string;
  readonly summary: string;
  /** Whether it is about records that only worlds with the preview have (R49). Default: false. */
  readonly preview?: true;
  /** The body that it takes; left out for calls that take none. */
  readonly body?: Name;
  /** Parameters of the query, with what they mean. */
  readonly query?: Readonly<Record<string, string>>;
  /** What it answers with, and what that looks like; 204 answers with nothing. */
  readonly status: 200 | 201 | 204;
  readonly answer: JsonSchema | undefined;
  readonly run: (context: CallContext<ControlBody<Name>>) => unknown;
  /** The types of content in which it answers beside JSON, and its answer where the query asks for one of them. */
  readonly written?: {
    readonly types: readonly string[];
    readonly run: (context: CallContext<unknown>) => WrittenAnswer | undefined;
  };
  /** Takes a body sent as YAML; left out where only JSON is taken. */
  readonly runYaml?: (context: CallContext<string>) => unknown;
}

/** Makes a row whose `run` knows the type of its body. */
export function controlCall<Name extends ControlBodyName = "nothing">(row: ControlCall<Name>): ControlCall {
  return row as unknown as ControlCall;
}
