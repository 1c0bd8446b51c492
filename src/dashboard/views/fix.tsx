import { useRef } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey, ListedKey, ShownRequestDetails, ShownSentRequest } from "../control/responses.js";
import { Button } from "../elements/action.js";
import { Secret, useIssued } from "./secret.js";

type Rejected = Extract<ShownRequestDetails["outcome"], `${401 | 403 | 429}.${string}`>;

/** A change by an administrator after which the request gets 200. */
interface Fix {
  readonly label: string;
  /** What it changes for other requests. */
  readonly also: string;
  /** Returns the key to send instead, if the change creates one. */
  readonly run: (key: ListedKey, request: ShownRequestDetails) => Promise<IssuedKey | undefined>;
}

const createsKey = (label: string, run: Fix["run"]): Fix => ({
  label,
  also: "Adds a key to the organization; the rejected key stays.",
  run,
});
const likeThis = createsKey("Create a key like this one", createKey);
const withScope = createsKey("Create a key with this scope", (key, { required_scope: scope }) =>
  createKey({ ...key, scopes: [...key.scopes, scope as string] }),
);
const withLimits = createsKey("Create a key with a limit", ({ limits: { per_minute, per_day }, ...key }) =>
  createKey({ ...key, limits: { per_minute: per_minute || 60, per_day: per_day || 1000 } }),
);

const changesOrganization = (label: string, body: object): Fix => ({
  label,
  also: "Changes the responses to all keys of the organization.",
  async run({ organization }) {
    await call(`/organizations/${encodeURIComponent(organization)}`, { method: "PATCH", body });
    return undefined;
  },
});
const approve = changesOrganization("Approve live access", { live_access: "approved" });

const advanceTo = (window: string): Fix => ({
  label: `Advance to the next ${window}`,
  also: "Moves the clock for everyone: keys may end.",
  async run({ next_request: { until: now } }) {
    if (now !== null) await call("/clock", { method: "PUT", body: { now } });
    return undefined;
  },
});

/** After a rejection without a fix, no change makes the same request pass. */
const fixes: Readonly<Record<Rejected, Fix | undefined>> = {
  "401.missing": undefined,
  "401.malformed": undefined,
  "401.unknown": undefined,
  "401.revoked": likeThis,
  "401.expired": likeThis,
  "401.rotated": likeThis,
  "403.access_denied": changesOrganization("Activate the organization", { status: "active" }),
  "403.live_not_approved": approve,
  "403.live_suspended": approve,
  "403.insufficient_scope": withScope,
  "429.per_minute": advanceTo("minute"),
  "429.per_day": advanceTo("day"),
};

type KeyValues = Pick<ListedKey, "organization" | "environment" | "name" | "scopes" | "limits">;

function createKey({ organization, environment, name, scopes, limits }: KeyValues): Promise<IssuedKey> {
  return call("/keys", { method: "POST", body: { organization, environment, name, scopes, limits } });
}

/** The fix for a request with a key; `undefined` if there is none, or if another change was the fix. */
function fixOf({ outcome }: ShownRequestDetails, { next_request: next, limits }: ListedKey) {
  const fix = fixes[outcome as Rejected]; // `undefined` for any other outcome
  if (fix === withScope) return fix;
  if (next.outcome !== outcome) return undefined;
  return Math.min(limits.per_minute, limits.per_day) > 0 ? fix : withLimits;
}

interface FixProps {
  readonly request: ShownRequestDetails;
  readonly onSent: (id: string) => void;
  readonly isQuiet?: boolean;
}

/** The change that lets a rejected request pass, and a button that sends the request again. */
export function FixAndSend({ request, onSent, isQuiet = false }: FixProps) {
  const panel = useRef<HTMLDivElement>(null);
  const [issued, setIssued] = useIssued();
  const path = request.key === null ? undefined : (`/keys/${encodeURIComponent(request.key)}` as const);
  const { data: key, problem } = useData(path);
  const fix =
    key !== undefined && key.ref === request.key && issued === undefined ? fixOf(request, key) : undefined;
  const send = async () => {
    const body = { ...request.repeat, key: issued?.key.ref ?? request.repeat.key };
    onSent((await call<ShownSentRequest>("/send", { method: "POST", body })).request.id);
  };
  const run = async () => {
    setIssued(await fix?.run(key as ListedKey, request));
    // The button of the fix disappears.
    panel.current?.querySelector<HTMLElement>(".send-again")?.focus();
  };
  // All buttons come together.
  if (path !== undefined && key === undefined && problem === undefined) return null;
  return (
    <div class="stack" ref={panel}>
      {issued && <Secret issued={issued} key={issued.key.ref} />}
      <div class="bar">
        {fix && (
          <Button class={isQuiet ? "quiet" : ""} run={run}>
            {fix.label}
          </Button>
        )}
        <Button class={`send-again ${issued === undefined ? "quiet" : ""}`} run={send}>
          Send again{issued === undefined ? "" : ` with ${issued.key.ref}`}
        </Button>
        <span class="muted small">{fix?.also}</span>
      </div>
    </div>
  );
}

/** Why a request ended where it did. */
export function causeText(request: ShownRequestDetails): string {
  const { outcome, key_scopes: scopes, required_scope: required, why, when } = request;
  if (outcome !== "403.insufficient_scope" || scopes === null) return why ?? when;
  return `needs ${required}, this key has ${scopes.join(" ") || "none"}`;
}
