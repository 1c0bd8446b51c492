import { useRef } from "preact/hooks";
import { call } from "../../control/call.js";
import { turnOff } from "../../control/faults.js";
import { useResource, useResources } from "../../control/resource.js";
import { faults } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton } from "../../elements/forms/action.js";
import { actor } from "../keys/actor.js";
import { Secret, useIssued } from "../keys/secret.js";

type Details = Shown<"RequestDetails">;
type Key = Shown<"ListedKey">;
type Issued = Shown<"IssuedKey">;

/** A change by an administrator after which the request gets 200. */
interface Fix {
  readonly label: string;
  /** What it changes for other requests. */
  readonly also: string;
  /** Returns the key to send instead, if the change creates one. */
  readonly run: (request: Details, key: Key) => Promise<Issued | undefined>;
}

const likeThisOne: Fix = {
  label: "Create a key like this one",
  also: "Adds a key to the organization; the rejected key stays.",
  run: (_, key) => createKey(key),
};
const forKeys = "Changes the responses to all keys of the organization.";
const approval: Fix = {
  label: "Approve live access",
  also: forKeys,
  run: (_, key) => changeOrganization(key, { live_access: "approved" }),
};

const forEveryone = "Moves the clock for everyone who uses this sandbox: keys and limits may end.";

/** By path id. After other rejections, no change makes the same request pass. */
const fixes: Readonly<Partial<Record<Details["path_id"], Fix>>> = {
  "401.revoked": likeThisOne,
  "401.expired": likeThisOne,
  "401.rotated": likeThisOne,
  "403.access_denied": {
    label: "Activate the organization",
    also: forKeys,
    run: (_, key) => changeOrganization(key, { status: "active" }),
  },
  "403.live_not_approved": approval,
  "403.live_suspended": approval,
  "403.insufficient_scope": {
    label: "Create a key with this scope",
    also: likeThisOne.also,
    run: ({ required_scope: scope }, key) => createKey({ ...key, scopes: [...key.scopes, scope as string] }),
  },
  "429.per_minute": { label: "Advance to the next minute", also: forEveryone, run: waitForLimit },
  "429.per_day": { label: "Advance to the next day", also: forEveryone, run: waitForLimit },
};

const withLimits: Fix = {
  label: "Create a key with a limit",
  also: likeThisOne.also,
  run(_, { limits, ...key }) {
    const { per_minute, per_day } = limits;
    return createKey({ ...key, limits: { per_minute: per_minute || 60, per_day: per_day || 1000 } });
  },
};

type KeyValues = Pick<Key, "organization" | "environment" | "name" | "scopes" | "limits">;

function createKey({ organization, environment, name, scopes, limits }: KeyValues): Promise<Issued> {
  const body = { organization, environment, name, scopes, limits };
  return call("/keys", { method: "POST", body, actor: actor.value });
}

async function changeOrganization({ organization }: Key, body: object): Promise<undefined> {
  const path = `/organizations/${encodeURIComponent(organization)}`;
  await call(path, { method: "PATCH", body, actor: actor.value });
}

async function waitForLimit(_: Details, { next_request: { until: now } }: Key): Promise<undefined> {
  if (now !== null) await call("/clock", { method: "PUT", body: { now } });
}

/** The fix for a request with a key; `undefined` if there is none, or if another change was the fix. */
function fixOf({ path_id: pathId }: Details, { next_request: next, limits }: Key): Fix | undefined {
  const fix = fixes[pathId];
  if (fix === undefined || pathId === "403.insufficient_scope") return fix;
  if (next.path_id !== pathId) return undefined;
  return Math.min(limits.per_minute, limits.per_day) > 0 ? fix : withLimits;
}

interface FixProps {
  readonly request: Details;
  /** Shows the request with this id, which was sent again. */
  readonly onSent: (id: string) => void;
  /** Whether the page has a more important button. */
  readonly isQuiet?: boolean;
}

/** The change that lets a rejected request pass, and a button that sends the request again. */
export function FixAndSend({ request, onSent, isQuiet = false }: FixProps) {
  const panel = useRef<HTMLDivElement>(null);
  const issued = useIssued();
  const send = async () => {
    const body = { ...request.repeat, key: issued.value?.key.ref ?? request.repeat.key };
    onSent((await call<Shown<"Sent">>("/send", { method: "POST", body })).request.id);
  };
  const onFixed = (made: Issued | undefined) => {
    if (made !== undefined) issued.value = made;
    // The button of the fix disappears.
    panel.current?.querySelector<HTMLElement>(".send-again")?.focus();
  };
  const isOld = request.key !== issued.value?.key.ref;
  return (
    <div class="stack" ref={panel}>
      {issued.value === undefined ? null : <Secret issued={issued.value} key={issued.value.key.ref} />}
      <p class="bar">
        {request.fault !== null && fixes[request.path_id] === undefined ? (
          <FixOfFault request={request} onFixed={onFixed} isQuiet={isQuiet} />
        ) : request.key === null || (issued.value !== undefined && isOld) ? null : (
          <FixOfKey
            key={request.key}
            keyRef={request.key}
            request={request}
            onFixed={onFixed}
            isQuiet={isQuiet}
          />
        )}
        <ActionButton class={`send-again ${issued.value === undefined ? "quiet" : ""}`} run={send}>
          Send again{issued.value === undefined ? "" : ` with ${issued.value.key.ref}`}
        </ActionButton>
      </p>
    </div>
  );
}

interface FixOfKeyProps extends Pick<FixProps, "request" | "isQuiet"> {
  readonly keyRef: string;
  readonly onFixed: (made: Issued | undefined) => void;
}

function FixOfKey({ keyRef, request, onFixed, isQuiet }: FixOfKeyProps) {
  const key = useResource<Key>(`/keys/${encodeURIComponent(keyRef)}`).data.value;
  const fix = key && fixOf(request, key);
  if (key === undefined || fix === undefined) return null;
  return (
    <>
      <ActionButton class={isQuiet ? "quiet" : ""} run={async () => onFixed(await fix.run(request, key))}>
        {fix.label}
      </ActionButton>
      <span class="muted small">{fix.also}</span>
    </>
  );
}

function FixOfFault({ request: { fault: pathId, key }, onFixed, isQuiet }: Omit<FixOfKeyProps, "keyRef">) {
  useResources(faults);
  const on = faults.data.value ?? [];
  const effect = pathId?.replace("fault.", "") as keyof Shown<"Fault">["then"];
  // The first fault that matches a request fires.
  const fired = on.find(({ when, then }) => then[effect] !== undefined && (when?.key ?? key) === key);
  if (fired === undefined) return null;
  const fix = async () => {
    await turnOff(fired);
    onFixed(undefined);
  };
  return (
    <>
      <ActionButton class={isQuiet ? "quiet" : ""} run={fix}>
        Turn this fault off
      </ActionButton>
      <span class="muted small">Turns it off for every request that it matches.</span>
    </>
  );
}

/** Why a request ended where it did. */
export function causeText(request: Details): string {
  const { path_id: pathId, key_scopes: scopes, required_scope: required, why, when } = request;
  if (pathId !== "403.insufficient_scope" || scopes === null) return why ?? when;
  return `needs ${required}, this key has ${scopes.join(" ") || "none"}`;
}
