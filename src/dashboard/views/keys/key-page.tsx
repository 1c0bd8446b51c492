import { useSignal } from "@preact/signals";
import { call } from "../../control/call.js";
import { useResource } from "../../control/resource.js";
import { upcoming } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { Fact } from "../../elements/fact.js";
import { ActionButton, RejectionText } from "../../elements/forms/action.js";
import { InstantText, Until } from "../../elements/instant.js";
import { endsOf, KeyState } from "../../elements/key-state.js";
import { RequestTable } from "../../elements/traffic/request-table.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo, withQuery } from "../../route.js";
import { KeyActions, KeyVerdict } from "./key-actions.js";

type Key = Shown<"ListedKey">;

const maxRequests = 10;

export function KeyDetails({ keyRef }: { readonly keyRef: string }) {
  const one = useResource<Key>(`/keys/${encodeURIComponent(keyRef)}`);
  const key = one.data.value;
  return (
    <>
      <p>
        <a href={linkTo("keys")}>All keys</a>
      </p>
      <RejectionText problem={one.problem.value} />
      {key === undefined || one.problem.value !== undefined ? null : (
        <>
          <OneKey of={key} />
          <Requests of={key.ref} />
        </>
      )}
    </>
  );
}

function OneKey({ of: key }: { readonly of: Key }) {
  const sent = useSignal<Shown<"Sent"> | undefined>(undefined);
  const send = async () => {
    sent.value = await call<Shown<"Sent">>("/send", { method: "POST", body: { key: key.ref } });
  };
  return (
    <section class="panel stack key-page" aria-label={key.ref}>
      <header class="bar">
        <h2 tabIndex={-1}>{key.ref}</h2>
        <KeyState state={key.state} />
        <KeyActions of={key} isOnPage />
      </header>
      <p class="bar">
        <span>
          Next request gets <KeyVerdict of={key} />
        </span>
        <ActionButton class="quiet" run={send}>
          Send a request
        </ActionButton>
      </p>
      <output>{sent.value === undefined ? null : <SentResponse sent={sent.value} />}</output>
      <Facts of={key} />
    </section>
  );
}

function Facts({ of: key }: { readonly of: Key }) {
  const { usage, limits } = key;
  return (
    <dl class="facts">
      <Fact name="Name">
        <bdi>{key.name}</bdi>
      </Fact>
      <Fact name="Organization">
        <a href={linkTo("keys", [], { filter: key.organization })}>{key.organization}</a>
      </Fact>
      <Fact name="Environment">
        {key.environment}
        {key.legacy ? ", with a legacy prefix" : ""}
      </Fact>
      <Fact name="Scopes">
        <code>{key.scopes.join(" ")}</code>
      </Fact>
      <Fact name="Fingerprint">
        <code>{key.fingerprint}</code>
      </Fact>
      <Usage used={usage.this_minute} limit={limits.per_minute} window="minute" />
      <Usage used={usage.today} limit={limits.per_day} window="day" />
      {endsOf(key).map(({ term, at }) => (
        <Fact key={term} name={term}>
          <InstantText at={at} />{" "}
          <span class="muted">
            (<Until at={at} hasHappened={term === "Revoked"} />)
          </span>
        </Fact>
      ))}
      {[["Replaced by", key.replaced_by] as const, ["Replaces", key.replaces] as const].map(([name, ref]) =>
        ref === null ? null : (
          <Fact key={name} name={name}>
            <a href={linkTo("keys", [ref])}>{ref}</a>
          </Fact>
        ),
      )}
    </dl>
  );
}

interface UsageProps {
  readonly used: number;
  readonly limit: number;
  readonly window: "minute" | "day";
}

/** A key's usage of one of its limits. */
function Usage({ used, limit, window }: UsageProps) {
  const reset = upcoming.data.value?.find(({ kind }) => kind === `${window}_reset`);
  return (
    <Fact name={`Used this ${window}`}>
      {used.toLocaleString("en")} of {limit.toLocaleString("en")} per {window}
      {used === 0 || reset === undefined ? null : (
        <span class="muted">
          , resets <Until at={reset.at} />
        </span>
      )}
    </Fact>
  );
}

function Requests({ of: ref }: { readonly of: string }) {
  const path = withQuery("/requests", { key: ref, limit: String(maxRequests) });
  const own = useResource<readonly Shown<"Request">[]>(path).data.value ?? [];
  return (
    <section class="panel stack" aria-label="Requests">
      <h2>Requests</h2>
      {own.length === 0 ? (
        <p class="muted">No requests with this key yet.</p>
      ) : (
        <>
          <RequestTable label={`Requests with ${ref}`} requests={own.toReversed()} />
          <p>
            <a href={linkTo("requests", [], { key: ref })}>Show all requests with this key</a>
          </p>
        </>
      )}
    </section>
  );
}
