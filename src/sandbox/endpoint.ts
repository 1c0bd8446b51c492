import { isSuccess, outcomes, type PathId, type SuccessPathId } from "../rules/outcomes.js";
import type { RequestContent } from "../rules/request.js";
import type { Shape } from "../rules/schema/shape.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { KeyEntry } from "./registry.js";

/** The path id of a rejection by the endpoint itself, after authorization. */
type OwnRejectionPath = Extract<PathId, "400.bad_request" | "422.validation">;

/** The path id of a success of an endpoint: of `/me` the one that its key causes, of others their own. */
export function successPathOf<Admitted>(
  { responsesContext, status, operationId }: Endpoint,
  admitted: Admitted,
): Admitted | SuccessPathId {
  return responsesContext ? admitted : `${status ?? 200}.${operationId}`;
}

export function successPathsOf(endpoint: Endpoint): readonly PathId[] {
  const path = successPathOf(endpoint, undefined);
  return path === undefined ? outcomes.map((row) => row.path).filter(isSuccess) : [path];
}

/** An endpoint of the API, and its responses. A new one is one file and its row in `src/api/endpoints.ts`. */
export interface Endpoint {
  readonly method: string;
  /** The exact path; a name in braces matches any one segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly status?: 201 | 202 | 204;
  /** Whether `data` is the key's context: the key decides the path id of its success. Default: false. */
  readonly responsesContext?: true;
  /** The scope that it requires, or `null` for none. Default: the assumption `me_scope`. */
  readonly scope?: string | null;
  readonly summary: string;
  readonly input?: InputSchema;
  readonly rejections?: readonly OwnRejectionPath[];
  /** The response of the API's own description with a status; `undefined` if it has none. Default: not described there. */
  readonly documented?: (status: number, sandbox: Served) => Success | undefined;
  /** A request that passes its checks. Default: one to its path. */
  readonly example?: () => KeylessRequest;
  /** Changes nothing, because dry runs use it too. */
  readonly respond: (caller: KeyEntry, sandbox: Served, asked: EndpointInput) => Success | OwnRejection;
}

/** The part of a sandbox that responses depend on. */
interface Served {
  readonly scenario: Scenario;
}

/** An endpoint that the specification has, and its description. */
export interface ReleasedEndpoint extends Endpoint {
  readonly description: string;
  /** The shape of a success body, with its name in the description, and an example. */
  readonly responseName: string;
  readonly responseShape: Shape;
  readonly responseExample: unknown;
}

export interface KeylessRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The input of an endpoint besides the key and the path; checked before the endpoint responds. */
export interface InputSchema {
  /** Whether it declares parameters in the query, or a body. */
  readonly hasQuery: boolean;
  readonly hasBody: boolean;
  /** Reads and checks the input. */
  readonly read: (asked: EndpointInput, content: RequestContent) => EndpointInput | OwnRejection;
}

export interface EndpointInput {
  readonly kind?: undefined;
  /** On the sandbox's clock. */
  readonly now: number;
  /** The values of the path parameters, not decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: unknown;
  /** What the client prefers for this response: a documented status with the header that says so, or the name of an example. */
  readonly prefer?: Preference | undefined;
  /** For the people of the sandbox. */
  readonly note?: string | undefined;
}

export interface Preference {
  readonly code?: number;
  readonly example?: string;
  /** For the people of the sandbox, what decided, or why it could not. */
  readonly note?: string;
}

export interface TextBody {
  readonly text: string;
  readonly bytes: number;
}

export interface Success extends TextBody {
  readonly kind?: undefined;
  readonly type?: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

export interface OwnRejection {
  readonly kind: "rejected";
  readonly path: OwnRejectionPath;
  /** The details in the response; must not contain anything that looks like a key (R46). */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly body?: TextBody & { readonly type?: string | undefined };
  /** Why, for the people of the sandbox; never in the response. */
  readonly note?: string;
}
