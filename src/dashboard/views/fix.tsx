import { useRef, useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey, ListedKey, ShownRequestDetails, ShownSentRequest } from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { Button } from "../elements/action.js";
import { Secret } from "./secret.js";

/** A change by an administrator after which the request gets 200. */
interface Fix {
  readonly label: string;
  /** What it changes for other requests. */
  readonly sideEffect: string;
  /** Makes the change. Returns the key to send instead, if it creates one. */
  readonly run: (key: ListedKey, request: ShownRequestDetails) => Promise<IssuedKey | undefined>;
}

const sideEffect = "Adds a key; the rejected one stays.";

const createSameKey: Fix = { label: "Create a key like this one", sideEffect, run: createKey };

const createKeyWithScope: Fix = {
  label: "Create a key with this scope",
  sideEffect,
  run: (key, request) => createKey({ ...key, scopes: [...key.scopes, request.required_scope as string] }),
};

const activateOrganization = changeOrganization("Activate the organization", { status: "active" });
const approveLiveAccess = changeOrganization("Approve live access", { live_access: "approved" });

/** Without a key of the sandbox, as with 401.missing, no change makes the same request pass. */
const fixesByOutcome: Readonly<Record<string, Fix>> = {
  "401.revoked": createSameKey,
  "401.expired": createSameKey,
  "401.rotated": createSameKey,
  "403.access_denied": activateOrganization,
  "403.live_not_approved": approveLiveAccess,
  "403.live_suspended": approveLiveAccess,
  "403.insufficient_scope": createKeyWithScope,
  "429.per_minute": advanceToNext("minute"),
  "429.per_day": advanceToNext("day"),
};

/** Creates a key like another one. */
function createKey({ organization, environment, name, scopes, limits }: ListedKey): Promise<IssuedKey> {
  // A limit of 0 would reject every request.
  const usable = { per_minute: limits.per_minute || 60, per_day: limits.per_day || 1000 };
  const body = { organization, environment, name, scopes, limits: usable };
  return call("/keys", { method: "POST", body });
}

/** A fix that changes a field of the key's organization. */
function changeOrganization(label: string, body: object): Fix {
  return {
    label,
    sideEffect: "Changes all keys of the organization.",
    async run({ organization }) {
      await call(`/organizations/${encodeURIComponent(organization)}`, { method: "PATCH", body });
      return undefined;
    },
  };
}

/** A fix that moves the clock to the reset of the limit. */
function advanceToNext(window: string): Fix {
  return {
    label: `Advance to the next ${window}`,
    sideEffect: "Moves the clock for everyone: keys may end.",
    async run(key) {
      const now = key.next_request.until;
      if (now !== null) await call("/clock", { method: "PUT", body: { now } });
      return undefined;
    },
  };
}

/** The fix for a request with its key as it is now; `undefined` if the page has none, or if the key needs none any more. */
function findFix(outcome: string, key: ListedKey | undefined): Fix | undefined {
  const usualFix = fixesByOutcome[outcome];
  // Until the key is read, the usual fix keeps the place of the button.
  if (key === undefined) return usualFix;
  // The scope depends on the endpoint, and the next request of the key is about the first one.
  if (outcome === "403.insufficient_scope") return usualFix;

  const { next_request: next, replaced_by } = key;
  const needsNone = next.outcome !== outcome || replaced_by !== null;
  if (needsNone) return undefined;

  // The limit is 0, or the key ends before it resets.
  const neverResets = next.status === 429 && next.until === null;
  return neverResets ? createSameKey : usualFix;
}

/** A button for the change that lets a rejected request pass, and one that sends it again and opens what was sent. Neither can be pressed until the request and its key are read. */
export function FixAndSend(props: {
  readonly request: Pick<ShownRequestDetails, "id" | "key" | "outcome">;
  /** Whether other buttons of the view are more important. */
  readonly isQuiet?: boolean;
}) {
  const { request, isQuiet = false } = props;
  const { id, key: ref, outcome } = request;
  const panel = useRef<HTMLDivElement>(null);
  const [issued, setIssued] = useState<IssuedKey>();
  const details = useData(`/requests/${encodeURIComponent(id)}`).data;
  const key = useData(ref === null ? undefined : `/keys/${encodeURIComponent(ref)}`).data;
  const isRead = details !== undefined && (key !== undefined || ref === null);

  // One fix is enough: a key that this one has created, or that replaced the old one, is sent instead.
  const fix = issued === undefined ? findFix(outcome, key) : undefined;
  const newRef = issued?.key.ref ?? key?.replaced_by ?? undefined;

  const send = async () => {
    const body = { ...details?.repeat, key: newRef ?? details?.repeat?.key };
    const { request: again } = await call<ShownSentRequest>("/send", { method: "POST", body });
    location.hash = linkTo("requests", [again.id]);
  };
  const runFix = async () => {
    setIssued(await fix?.run(key as ListedKey, details as ShownRequestDetails));
    // The button of the fix disappears.
    panel.current?.querySelector<HTMLElement>(".send-again")?.focus();
  };
  return (
    <div class="stack" inert={!isRead} ref={panel}>
      {issued && <Secret issued={issued} key={issued.key.ref} />}
      <div class="bar">
        {fix && (
          <Button class={isQuiet ? "quiet" : ""} run={runFix}>
            {fix.label}
          </Button>
        )}
        {details?.repeat !== null && (
          <Button class={`send-again ${newRef ? "" : "quiet"}`} run={send}>
            Send again{newRef && ` with ${newRef}`}
          </Button>
        )}
        <span class="muted small">{fix?.sideEffect}</span>
      </div>
    </div>
  );
}

/** Why a request ended where it did, in words. */
export function causeText(request: ShownRequestDetails): string {
  const { outcome, key_scopes, required_scope } = request;
  if (outcome !== "403.insufficient_scope" || key_scopes === null) return request.why ?? request.when;
  const has = key_scopes.join(" ") || "none";
  return `needs ${required_scope}, this key has ${has}`;
}
