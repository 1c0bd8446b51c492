import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../../control/call.js";
import { upcoming } from "../../control/now.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton, RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { Select } from "../../elements/forms/field.js";
import { Until } from "../../elements/instant.js";
import { firstEndOf, hasEnded, KeyState } from "../../elements/key-state.js";
import { toneOf } from "../../elements/traffic/path-badge.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo } from "../../route.js";
import { actor } from "./actor.js";
import { doing, keyActions } from "./key-dialogs.js";

interface OrganizationPanelProps {
  readonly section: Shown<"Directory">["sections"][number];
}

export function OrganizationPanel({ section }: OrganizationPanelProps) {
  const { organization, keys, active, is_continued: isContinued } = section;
  const { ref, name, type } = organization;
  return (
    <section class="panel stack" aria-label={ref}>
      <header class="bar">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <p class="muted wide">
          <code>{ref}</code> · {type} · active: {active.test}/5 test, {active.live}/5 live
          {isContinued ? " · continued" : ""}
        </p>
      </header>
      <Access organization={organization} />
      {keys.length === 0 ? (
        <p class="muted empty">No keys yet. Create one to call the API.</p>
      ) : (
        <ul class="list">
          <li class="key-row key-heads muted small" aria-hidden="true">
            {columns.map((column) => (
              <span key={column}>{column}</span>
            ))}
          </li>
          {keys.map((key) => (
            <KeyRow key={key.ref} of={key} />
          ))}
        </ul>
      )}
    </section>
  );
}

type Change = Partial<Pick<Shown<"Organization">, "status" | "sandbox_access" | "live_access">>;

function Access({ organization }: { readonly organization: Shown<"Organization"> }) {
  // Shown until the sandbox reports the change.
  const wanted = useSignal<Change>({});
  useEffect(() => {
    wanted.value = {};
  }, [JSON.stringify(organization)]);
  const { add, problem } = useActionQueue();
  const change = (next: Change) => {
    wanted.value = { ...wanted.value, ...next };
    add(async () => {
      const path = `/organizations/${encodeURIComponent(organization.ref)}`;
      try {
        await call(path, { method: "PATCH", body: next, actor: actor.value });
      } catch (error) {
        wanted.value = {};
        throw error;
      }
    });
  };
  const { status, sandbox_access, live_access } = { ...organization, ...wanted.value };
  return (
    <div class="bar small">
      <Select
        label="Status"
        value={status}
        of={["active", "inactive"]}
        onChange={(to) => change({ status: to as typeof status })}
      />
      <Select
        label="Sandbox access"
        value={sandbox_access ? "on" : "off"}
        of={["on", "off"]}
        onChange={(to) => change({ sandbox_access: to === "on" })}
      />
      <Select
        label="Live access"
        value={live_access}
        of={[["not_approved", "not approved"], "approved", "suspended"]}
        onChange={(to) => change({ live_access: to as typeof live_access })}
      />
      <RejectionText problem={problem} />
    </div>
  );
}

function KeyRow({ of: key }: { readonly of: Shown<"ListedKey"> }) {
  const { ref, name, environment, legacy, scopes, state, usage, limits } = key;
  const end = firstEndOf(key);
  return (
    <li class="key-row small">
      <span class="bar key-name">
        <a href={linkTo("keys", [ref])} title={`${name}, ${scopes.join(" ")}`}>
          {ref}
        </a>
        <span class={`badge ${environment === "live" ? "toned tone-access" : ""}`}>{environment}</span>
        {legacy ? <span class="badge">legacy</span> : null}
      </span>
      <span class="key-end">
        <KeyState state={state} />{" "}
        {end === null || hasEnded(key) ? null : (
          <span class="muted">
            ends <Until at={end} />
          </span>
        )}
      </span>
      <span class="muted usage" title="Used this minute and today">
        {usage.this_minute.toLocaleString("en")}/{limits.per_minute.toLocaleString("en")}
        <span class="visually-hidden"> this minute</span> · {usage.today.toLocaleString("en")}/
        {limits.per_day.toLocaleString("en")}
        <span class="visually-hidden"> today</span>
      </span>
      <NextRequest of={key} isShort />
      <KeyActions of={key} />
    </li>
  );
}

interface KeyActionsProps {
  readonly of: Shown<"ListedKey">;
  readonly isOnPage?: boolean;
}

export function KeyActions({ of: key, isOnPage = false }: KeyActionsProps) {
  const { ref, state } = key;
  const box = useRef<HTMLDivElement>(null);
  const hasActed = useRef(false);
  const isOpen = doing.value?.kind !== "create" && doing.value?.key.ref === ref;
  useEffect(() => {
    hasActed.current ||= isOpen;
    if (!hasActed.current || isOpen || document.activeElement !== document.body) return;
    // The button that had the focus is gone.
    box.current?.closest("li, section")?.querySelector<HTMLElement>("h2, a")?.focus();
  }, [isOpen, state]);
  return (
    <div class="bar key-actions" ref={box}>
      {Object.entries(keyActions).map(([kind, action]) =>
        action.isFor(key) && (isOnPage || !action.isOnPage) ? (
          <button
            key={kind}
            type="button"
            class={`${action.class} action-${kind}`}
            onClick={() => {
              doing.value = { kind: kind as keyof typeof keyActions, key };
            }}
          >
            {action.words}
            <span class="visually-hidden"> {ref}</span>
          </button>
        ) : null,
      )}
    </div>
  );
}

/** The outcome of the next request with a key, a button that sends it, and its response. */
export function NextRequest(props: { readonly of: Shown<"ListedKey">; readonly isShort?: boolean }) {
  const { ref, next_request: next } = props.of;
  const sent = useSignal<Shown<"Sent"> | undefined>(undefined);
  const send = async () => {
    sent.value = undefined;
    sent.value = await call<Shown<"Sent">>("/send", { method: "POST", body: { key: ref } });
  };
  return (
    <div class="bar small next-request">
      <p title={next.verdict}>
        <span class={props.isShort ? "visually-hidden" : "muted"}>Next request gets</span>{" "}
        <strong class={`key-verdict toned tone-${toneOf(next.path_id)}`}>
          <Verdict of={props.of} />
        </strong>
      </p>
      <ActionButton class="quiet" run={send}>
        Send<span class={props.isShort ? "visually-hidden" : ""}> a request</span>
        <span class="visually-hidden"> with {ref}</span>
      </ActionButton>
      <output>{sent.value === undefined ? null : <SentResponse sent={sent.value} />}</output>
    </div>
  );
}

/** The outcome of the next request. For a key that ended, with the time since then, which is shorter than the time itself. */
function Verdict({ of: key }: { readonly of: Shown<"ListedKey"> }) {
  const { status, verdict } = key.next_request;
  const end = firstEndOf(key);
  if (status !== 401 || !hasEnded(key) || end === null) return verdict;
  return (
    <>
      {status} · {key.state} <Until at={end} hasHappened />
    </>
  );
}

const columns = ["Key", "State", "Minute · day", "Next request", "Actions"];

interface UsageMeterProps {
  readonly keyRef: string;
  readonly used: number;
  readonly limit: number;
  readonly window: "minute" | "day";
}

/** A key's usage of one of its limits: yellow from 80%, red at the limit. */
function UsageMeter({ keyRef, used, limit, window }: UsageMeterProps) {
  // A meter needs a length. A limit of 0 is always reached.
  const [value, max] = limit === 0 ? [1, 1] : [Math.min(used, limit), limit];
  return (
    <div class="stack small usage">
      <span>
        {used.toLocaleString("en")}{" "}
        <span class="muted">
          of {limit.toLocaleString("en")} per {window}
        </span>
      </span>
      <meter
        aria-label={`${keyRef}: used this ${window}`}
        min={0}
        low={max * 0.8}
        high={max - max / 1e6}
        max={max}
        optimum={0}
        value={value}
      >
        {used} of {limit}
      </meter>
      {used === 0 ? null : <Reset window={window} />}
    </div>
  );
}

function Reset({ window }: Pick<UsageMeterProps, "window">) {
  const reset = upcoming.data.value?.find(({ kind }) => kind === `${window}_reset`);
  return reset === undefined ? null : (
    <span class="muted">
      resets <Until at={reset.at} />
    </span>
  );
}

export function UsageMeters({ of: { ref, usage, limits } }: { readonly of: Shown<"ListedKey"> }) {
  return (
    <>
      <UsageMeter keyRef={ref} used={usage.this_minute} limit={limits.per_minute} window="minute" />
      <UsageMeter keyRef={ref} used={usage.today} limit={limits.per_day} window="day" />
    </>
  );
}
