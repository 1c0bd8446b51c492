import type { Actor } from "../../sandbox/operations/input.js";
import type { Runtime } from "../../sandbox/runtime.js";
import type { Instances } from "./instances.js";

/** A call to the control plane as plain data, checked by its route. */
export interface ControlCall {
  /** Method and path of its route: `POST /keys/{ref}/rotate`. */
  readonly route: string;
  readonly actor: Actor;
  /** The named parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** A text where it was sent as YAML. */
  readonly body: unknown;
  readonly isYaml: boolean;
  /** What it may make that is random. Default: nothing. */
  readonly makes?: "key" | "instance" | undefined;
}

/** The sandbox that a call is about. */
export interface ControlPlace {
  readonly runtime: Runtime;
  /** The server's instances; `undefined` inside an instance. */
  readonly instances: Instances | undefined;
  /** Whether the call is about an instance that went meanwhile. */
  readonly isGone: boolean;
  /** Returns the base URL by which the caller reaches the server. */
  readonly baseUrl: () => string;
}
