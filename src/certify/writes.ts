import { type Endpoint, successPathOf } from "../api/endpoint.js";
import { isRepeatable } from "../api/request-details.js";
import { effectAt, type FaultPathId } from "../rules/fault-effects.js";
import { isSuccess, type PathId } from "../rules/outcomes.js";
import type { Exchange } from "../sandbox/journal/exchange.js";

/** What the writes of a run show. */
export interface Writes {
  /** The paths of writes that a client must not simply repeat: POST and PATCH without an `Idempotency-Key`. */
  readonly once: ReadonlySet<PathId>;
  /** The number of records that each operation has created. */
  readonly created: ReadonlyMap<string, number>;
}

export const noWrites: Writes = { once: new Set(), created: new Map() };

export function collectWrites(endpoints: readonly Endpoint[]) {
  const once = new Set<PathId>();
  const created = new Map<string, number>();
  return {
    once,
    created,
    add(exchange: Exchange): void {
      const { operation, pathId, hasCreated } = exchange;
      const endpoint = endpoints.find(({ operationId }) => operationId === operation);
      if (endpoint === undefined) return;
      if (isSuccess(pathId) && !isRepeatable(exchange, endpoint)) once.add(pathId);
      if (hasCreated) created.set(endpoint.operationId, (created.get(endpoint.operationId) ?? 0) + 1);
    },
  };
}

/** The paths where the exit code of a run with this fault shows something about the client: others may give up. */
export function judgedPaths(paths: readonly PathId[], fault: FaultPathId, { once }: Writes): PathId[] {
  return paths.filter((path) => effectAt(fault).onlyDelays || !once.has(path));
}

/** The path of an operation that has created more records than in the baseline; `undefined` if none has. */
export function createdTwice(
  { created: usual }: Writes,
  { created }: Writes,
  endpoints: readonly Endpoint[],
): PathId | undefined {
  const endpoint = endpoints.find(
    ({ operationId }) => (created.get(operationId) ?? 0) > (usual.get(operationId) ?? 0),
  );
  return endpoint && successPathOf(endpoint, undefined);
}

/** Whether the endpoint of a success is known to honor no `Idempotency-Key`. */
export function honorsNoKey(path: PathId | undefined, endpoints: readonly Endpoint[]): boolean {
  const endpoint = endpoints.find((one) => path !== undefined && successPathOf(one, undefined) === path);
  return endpoint?.honorsIdempotencyKey === false;
}
