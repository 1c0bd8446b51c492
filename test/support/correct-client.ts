import { mePath } from "./send.js";

/** What a client makes of an answer. */
export type Decision =
  | {
      readonly kind: "context";
      readonly organization: { readonly id: string; readonly type: string };
      readonly environment: string;
      readonly mayRead: boolean;
      readonly leftToday: number;
    }
  | { readonly kind: "key_rejected" }
  | { readonly kind: "forbidden"; readonly code: string }
  | { readonly kind: "limited" };

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A client that relies on what the specification promises, and on nothing else. Throws when it cannot make sense of an answer. */
export async function correctClient(fetch: Fetch, key: string): Promise<Decision> {
  const answer = await fetch(`https://any.example${mePath}`, { headers: { "x-api-key": key } });
  const body = (await answer.json()) as Body;
  if (answer.status === 200) return contextIn(body, answer.headers);
  const { code, message, details } = body.error ?? {};
  if (typeof code !== "string" || typeof message !== "string") throw new Error("not an error of the API");
  if (details !== undefined && typeof details !== "object") throw new Error("details that are no object");
  if (answer.status === 401) return { kind: "key_rejected" };
  if (answer.status === 403) return { kind: "forbidden", code };
  if (answer.status !== 429) throw new Error(`a status that is not listed: ${answer.status}`);
  if (!(secondsToWait(answer.headers.get("retry-after")) >= 1)) throw new Error("no time to wait");
  return { kind: "limited" };
}

interface Body {
  readonly data?: {
    readonly organization: { readonly id: string; readonly name: string; readonly type: string };
    readonly environment: string;
    readonly scopes: readonly string[];
    readonly limits: { readonly per_day: number };
    readonly usage: { readonly today: number };
  };
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
}

function contextIn({ data }: Body, headers: Headers): Decision {
  if (data === undefined || data.organization.name === "") throw new Error("no context");
  if (!headers.get("x-request-id")) throw new Error("nothing to quote to the support");
  const { id, type } = data.organization;
  return {
    kind: "context",
    organization: { id, type },
    environment: data.environment,
    mayRead: data.scopes.includes("attestations:read"),
    leftToday: data.limits.per_day - data.usage.today,
  };
}

// Either form of Retry-After, and a guess where there is none.
function secondsToWait(value: string | null): number {
  if (value === null) return 60;
  if (/^\d+$/.test(value)) return Number(value);
  return Math.ceil((Date.parse(value) - Date.now()) / 1000);
}
