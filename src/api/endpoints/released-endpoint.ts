import type { Endpoint } from "../../sandbox/endpoint.js";
import type { Shape } from "../../schema/shape.js";

/** An endpoint that the specification has, and its description. */
export interface ReleasedEndpoint extends Endpoint {
  readonly description: string;
  /** The shape of a success body, with its name in the description, and an example. */
  readonly responseName: string;
  readonly responseShape: Shape;
  readonly responseExample: unknown;
}
