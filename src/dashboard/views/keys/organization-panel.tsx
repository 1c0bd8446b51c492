import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Directory, Key, Organization } from "../../control/answers.js";
import { call } from "../../control/call.js";
import { Refusal, useActionQueue } from "../../elements/forms/action.js";
import { Until } from "../../elements/instant.js";
import { endOf, hasEnded, KeyState } from "../../elements/key-state.js";
import { codeWords } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { actor } from "./actor.js";
import type { Doing } from "./key-dialogs.js";
import { NextRequest } from "./next-request.js";
import { UsageMeters } from "./usage-meter.js";

interface OrganizationPanelProps {
  readonly section: Directory["sections"][number];
  readonly onDo: (doing: Doing) => void;
}

/** An organization as in its own dashboard: its access and its keys. */
export function OrganizationPanel({ section, onDo }: OrganizationPanelProps) {
  const { organization, keys, active, is_continued: isContinued } = section;
  const { ref, name, type } = organization;
  return (
    <section class="panel" aria-label={ref}>
      <header class="head-row">
        <div class="organization-name">
          <h2>
            <bdi>{name}</bdi>
          </h2>
          <p class="muted">
            <code>{ref}</code> · {type} · active keys: {active.test} of 5 test, {active.live} of 5 live
            {isContinued ? " · continued" : ""}
          </p>
        </div>
        <button type="button" onClick={() => onDo({ kind: "create", organization: ref })}>
          Create a key<span class="visually-hidden"> for {ref}</span>
        </button>
      </header>
      <Access organization={organization} />
      {keys.length === 0 ? (
        <p class="muted empty">No keys yet. Create one to call the API.</p>
      ) : (
        <ul class="key-list">
          {keys.map((key) => (
            <KeyRow key={key.ref} of={key} onDo={onDo} />
          ))}
        </ul>
      )}
    </section>
  );
}

type Change = Partial<Pick<Organization, "status" | "sandbox_access" | "live_access">>;

function Access({ organization }: { readonly organization: Organization }) {
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
    <div class="organization-access">
      {choice("Status", status, ["active", "inactive"], (to) => change({ status: to }))}
      {choice("Sandbox access", sandbox_access ? "on" : "off", ["on", "off"], (to) =>
        change({ sandbox_access: to === "on" }),
      )}
      {choice("Live access", live_access, ["not_approved", "approved", "suspended"], (to) =>
        change({ live_access: to }),
      )}
      <Refusal problem={problem} />
    </div>
  );
}

function choice<Value extends string>(
  label: string,
  value: Value,
  values: readonly Value[],
  choose: (value: Value) => void,
) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value as Value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {codeWords(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

function KeyRow({ of: key, onDo }: { readonly of: Key; readonly onDo: (doing: Doing) => void }) {
  const { ref, name, environment, legacy, scopes, state } = key;
  const end = endOf(key);
  const isOver = hasEnded(key);
  return (
    <li class="key-row">
      <div class="key-name">
        <a href={linkTo("keys", [ref])}>{ref}</a>{" "}
        <span class={`badge environment-${environment}`}>{environment}</span>
        {legacy ? <span class="badge">legacy</span> : null}
        <p class="muted">
          <bdi>{name}</bdi> · <code>{scopes.join(" ")}</code>
        </p>
      </div>
      <div class="key-end">
        <KeyState state={state} />
        {end === null ? null : (
          <p class="muted">
            {isOver ? "" : "ends "}
            <Until at={end} hasHappened={isOver} />
          </p>
        )}
      </div>
      <UsageMeters of={key} />
      <KeyActions of={key} onDo={onDo} />
      <NextRequest of={key} />
    </li>
  );
}

/** The buttons for the possible actions with a key (R42). */
export function KeyActions({ of: key, onDo }: { readonly of: Key; readonly onDo: (doing: Doing) => void }) {
  const { ref, state } = key;
  return (
    <div class="key-actions">
      {state === "active" ? (
        <button type="button" class="quiet" onClick={() => onDo({ kind: "rotate", key })}>
          Rotate<span class="visually-hidden"> {ref}</span>
        </button>
      ) : null}
      {hasEnded(key) ? null : (
        <button type="button" class="danger" onClick={() => onDo({ kind: "revoke", key })}>
          Revoke<span class="visually-hidden"> {ref}</span>
        </button>
      )}
    </div>
  );
}
