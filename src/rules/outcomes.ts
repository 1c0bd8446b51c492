import * as s from "../schema/shape.js";
import { type FaultKind, type FaultOutcomeId, faultKinds, faultKindTable } from "./fault-effects.js";
import { type OutcomeRow, responseOutcomes } from "./response-outcomes.js";

// The id of an outcome is one of these:
//
//   200.test, 401.revoked     a response, with its row in `responseOutcomes`
//   201.createConsentRequest  a success of another endpoint than `/me`: its status and operation id, without a row
//   fault.reset               a fault

type ResponseRow = (typeof responseOutcomes)[number];

/** The id of a success of `/me`: the key decides which. */
export type MeSuccessId = Extract<ResponseRow, { readonly status: 200 }>["id"];

/** The statuses that a success of an endpoint can have. */
export const successStatuses = [200, 201, 202, 204] as const;

/** The id of a success of any other endpoint. */
type EndpointSuccessId = `${(typeof successStatuses)[number]}.${string}` & Record<never, never>; // or editors would not suggest `200.test`

/** The stable id of an outcome of a response. */
export type ApiOutcomeId = ResponseRow["id"] | EndpointSuccessId;

/** The stable id of an outcome of a request. */
export type OutcomeId = ApiOutcomeId | FaultOutcomeId;

/** Every error code that the API can send, including the assumed code of 429, without the faults' codes. */
export type ApiErrorCode = Exclude<ResponseRow["code"], null>;

/** One way a request can end, with its stable id. */
export interface Outcome extends OutcomeRow {
  readonly id: OutcomeId;
}

/** The outcomes of faults, one for each kind. */
const faultRows = faultKinds.map(faultRow);

function faultRow(kind: FaultKind) {
  const id: FaultOutcomeId = `fault.${kind}`;
  const { causeClause, whatToDo } = faultKindTable[kind];
  const when = `a fault that ${causeClause}`;
  return { id, status: 0, code: null, message: null, when, whatToDo, promised: false } as const;
}

/**
 * The rows of the outcomes: responses, the OpenAPI document, the docs and the coverage are made from them. A success of
 * another endpoint than `/me` has no row: `outcomeRow` makes it from the id.
 */
export const outcomes = [...responseOutcomes, ...faultRows];

/** The ids of the outcomes of faults. */
export const faultOutcomeIds = faultRows.map(({ id }) => id);

const rowById: ReadonlyMap<string, Outcome> = new Map(outcomes.map((row) => [row.id, row]));

/** The row of an outcome. The table has none for the success of another endpoint than `/me`: it is made from the id. */
export function outcomeRow(outcome: OutcomeId): Outcome {
  return rowById.get(outcome) ?? endpointSuccessRow(outcome);
}

function endpointSuccessRow(outcome: OutcomeId): Outcome {
  const point = outcome.indexOf(".");
  const operationId = outcome.slice(point + 1);
  return {
    id: outcome,
    status: Number(outcome.slice(0, point)),
    code: null,
    message: null,
    promised: false,
    when: `a request to ${operationId} that passes all its checks`,
    whatToDo: "Nothing: the request succeeded.",
  };
}

export function isSuccess(outcome: OutcomeId): boolean {
  return outcome.startsWith("2");
}

/** The shape of the id of an outcome of a response. */
export function apiOutcomeShape(): s.Shape<ApiOutcomeId> {
  return idShape(responseOutcomes.map(({ id }) => id));
}

/** The shape of the id of an outcome of a request. */
export function outcomeShape(): s.Shape<OutcomeId> {
  return idShape(outcomes.map(({ id }) => id));
}

/** The shape of one of these ids, or of the id of a success of another endpoint than `/me`. */
function idShape<Id extends OutcomeId>(ids: readonly Id[]): s.Shape<Id | EndpointSuccessId> {
  const endpointSuccess = new RegExp(`^(?:${successStatuses.join("|")})\\.[A-Za-z][\\w-]*$`);
  return { ...s.choice(ids), alsoMatching: endpointSuccess } as s.Shape<Id | EndpointSuccessId>; // which the pattern allows
}
