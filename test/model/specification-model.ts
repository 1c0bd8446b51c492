// The specification, the slow and obvious way; it shares nothing with the code under test.

export interface ModelKey {
  readonly organization: string;
  readonly environment: "test" | "live";
  readonly scopes: readonly string[];
  readonly perMinute: number;
  readonly perDay: number;
  readonly expires: number | null;
  revoked: number | null;
  overlapEnds: number | null;
  /** When it was created or replaced another; null for a key of the scenario. */
  readonly created: number | null;
  /** When the requests that counted came. */
  readonly counted: number[];
}

interface ModelOrganization {
  active: boolean;
  live: "approved" | "suspended" | "not_approved";
  sandboxAccess: boolean;
}

export interface Model {
  now: number;
  readonly organizations: Record<string, ModelOrganization>;
  readonly keys: Record<string, ModelKey>;
  readonly endpoints: readonly ModelEndpoint[];
}

const minute = 60_000;
const day = 24 * 60 * minute;

export function isWorking(key: ModelKey, now: number): boolean {
  const ended = [key.revoked, key.expires, key.overlapEnds].some((end) => end !== null && end <= now);
  return !ended;
}

export const isActive = (key: ModelKey, now: number) => isWorking(key, now) && key.overlapEnds === null;

/** An endpoint of a scenario, besides `/me`. */
interface ModelEndpoint {
  readonly method: string;
  readonly path: string;
  readonly scope: string | null;
  readonly status: number;
}

interface Responded {
  readonly status: number;
  readonly code: string | null;
  /** `usage.today` of a success. */
  readonly today: number | null;
  /** The limit of a 429. */
  readonly limit: "per_minute" | "per_day" | null;
  /** Seconds until that limit resets. */
  readonly retryAfter: number | null;
}

const me: ModelEndpoint = {
  method: "GET",
  path: "/v1/relying-party/me",
  scope: "attestations:read",
  status: 200,
};

/** The endpoint of a request, or the status of the rejection: the path is chosen first, an exact one before a pattern. */
function targetOf({ endpoints }: Model, method: string, path: string): ModelEndpoint | 404 | 405 {
  const all = [me, ...endpoints];
  // Clients may encode any letter, but for the path of the specification.
  const plain = decodeURIComponent(path);
  const segments = plain.split("/");
  const fits = (one: ModelEndpoint) => {
    const own = one.path.split("/");
    const isAny = (at: number) => /^\{.+\}$/.test(own[at] ?? "") && segments[at] !== "";
    return own.length === segments.length && own.every((name, at) => name === segments[at] || isAny(at));
  };
  const chosen =
    path === me.path ? me : (endpoints.find((one) => one.path === plain) ?? endpoints.find(fits));
  if (chosen === undefined) return 404;
  const here = all.filter(
    (one) => one.path.replace(/\{\w+\}/g, "{}") === chosen.path.replace(/\{\w+\}/g, "{}"),
  );
  return here.find((one) => one.method === (method === "HEAD" ? "GET" : method)) ?? 405;
}

/** What a request gets as its response. */
export function respond(model: Model, ref: string | null, method: string, path: string): Responded {
  const silent = { today: null, limit: null, retryAfter: null };
  const target = targetOf(model, method, path);
  if (target === 404) return { ...silent, status: 404, code: "not_found" };
  if (target === 405) return { ...silent, status: 405, code: "method_not_allowed" };
  const key = ref === null ? undefined : model.keys[ref];
  if (key === undefined) return { ...silent, status: 401, code: "unauthorized" };
  const rejection = reject(model, key, target.scope);
  if (rejection === null) key.counted.push(model.now);
  const today = target === me ? countedToday(model, key) : null;
  if (rejection === null) return { ...silent, status: target.status, code: null, today };
  return { ...silent, ...rejection, ...(rejection.status === 429 && lastLimit(model, key)) };
}

/** The reached limit that resets last, as waiting for the other one does not help. A limit of 0 never resets. */
function lastLimit(model: Model, key: ModelKey): Pick<Responded, "limit" | "retryAfter"> {
  const { perMinute, perDay } = key;
  const limits = [
    {
      limit: "per_minute",
      size: perMinute,
      counted: countedThisMinute(model, key),
      end: minuteEnd(model),
    },
    { limit: "per_day", size: perDay, counted: countedToday(model, key), end: dayEnd(model) },
  ] as const;
  const reached = limits.filter(({ size, counted }) => counted >= size);
  const endless = reached.filter(({ size }) => size === 0);
  const candidates = endless.length > 0 ? endless : reached;
  const last = Math.max(...candidates.map(({ end }) => end));
  const { limit } = candidates.find(({ end }) => end === last) ?? limits[0];
  return { limit, retryAfter: Math.ceil((last - model.now) / 1000) };
}

const minuteEnd = ({ now }: Model) => (Math.floor(now / minute) + 1) * minute;

const dayEnd = ({ now }: Model) => (Math.floor(now / day) + 1) * day;

function reject(model: Model, key: ModelKey, scope: string | null): { status: number; code: string } | null {
  const organization = model.organizations[key.organization] as ModelOrganization;
  if (!isWorking(key, model.now)) return { status: 401, code: "unauthorized" };
  if (!organization.active) return { status: 403, code: "access_denied" };
  if (key.environment === "live" && organization.live !== "approved") {
    return { status: 403, code: "live_access_not_approved" };
  }
  if (scope !== null && !key.scopes.includes(scope)) return { status: 403, code: "insufficient_scope" };
  const spent = countedThisMinute(model, key) >= key.perMinute || countedToday(model, key) >= key.perDay;
  return spent ? { status: 429, code: "rate_limited" } : null;
}

/** How often a key was counted in the minute of now. */
export function countedThisMinute({ now }: Model, key: ModelKey): number {
  return key.counted.filter((time) => Math.floor(time / minute) === Math.floor(now / minute)).length;
}

/** How often a key was counted on the day of now. */
export function countedToday({ now }: Model, key: ModelKey): number {
  return key.counted.filter((time) => Math.floor(time / day) === Math.floor(now / day)).length;
}

/** Revokes, or says why not. */
export function revoke(model: Model, ref: string): string | null {
  const key = model.keys[ref];
  if (key === undefined) return "unknown_ref";
  if (!isWorking(key, model.now)) return "key_not_active";
  key.revoked = model.now;
  return null;
}

/** Rotates, or says why not. */
export function rotate(model: Model, ref: string, as: string, overlap: number): string | null {
  const key = model.keys[ref];
  if (key === undefined) return "unknown_ref";
  if (!isActive(key, model.now)) return "key_not_active";
  if (overlap < 0 || overlap > 7 * day) return "overlap_out_of_range";
  if (model.keys[as] !== undefined) return "name_taken";
  model.keys[as] = { ...key, created: model.now, expires: null, counted: [] };
  key.overlapEnds = model.now + overlap;
  return null;
}

/** Creates, or says why not. */
export function create(
  model: Model,
  ref: string,
  key: Omit<ModelKey, "expires" | "revoked" | "overlapEnds" | "created" | "counted">,
): string | null {
  const organization = model.organizations[key.organization];
  if (organization === undefined) return "unknown_ref";
  if (key.environment === "test" && !organization.sandboxAccess) return "sandbox_access_off";
  if (key.environment === "live" && organization.live !== "approved") return "live_access_not_approved";
  if (key.scopes.length === 0) return "scopes_required";
  const siblings = Object.values(model.keys).filter(
    (one) =>
      one.organization === key.organization &&
      one.environment === key.environment &&
      isActive(one, model.now),
  );
  if (siblings.length >= 5) return "key_limit_reached";
  if (model.keys[ref] !== undefined) return "name_taken";
  model.keys[ref] = {
    ...{ ...key, created: model.now, counted: [] },
    ...{ expires: null, revoked: null, overlapEnds: null },
  };
  return null;
}
