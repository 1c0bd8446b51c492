import { useResource } from "../../control/resource.js";
import { keyEvents } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { Fact } from "../../elements/fact.js";
import { RejectionText } from "../../elements/forms/action.js";
import { InstantText, Until } from "../../elements/instant.js";
import { endsOf, KeyState } from "../../elements/key-state.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { shortened } from "../../elements/words.js";
import { linkTo, withQuery } from "../../route.js";
import { KeyActions, NextRequest, UsageMeters } from "./organization-panel.js";

const mostRequests = 10;

export function KeyDetails({ keyRef }: { readonly keyRef: string }) {
  const one = useResource<Shown<"ListedKey">>(`/keys/${encodeURIComponent(keyRef)}`, keyEvents);
  const key = one.data.value;
  return (
    <>
      <p>
        <a href={linkTo("keys")}>All keys</a>
      </p>
      <RejectionText problem={one.problem.value} />
      {key === undefined || one.problem.value !== undefined ? null : (
        <>
          <section class="panel stack key-page" aria-label={key.ref}>
            <header class="bar">
              <h2 tabIndex={-1}>{key.ref}</h2>
              <KeyState state={key.state} />
              <KeyActions of={key} isOnPage />
            </header>
            <NextRequest of={key} />
            <Facts of={key} />
            <div class="columns">
              <UsageMeters of={key} />
            </div>
          </section>
          <Requests of={key.ref} />
        </>
      )}
    </>
  );
}

function Facts({ of: key }: { readonly of: Shown<"ListedKey"> }) {
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
      {endsOf(key).map(({ name, term, at }) => (
        <Fact key={name} name={term}>
          <InstantText at={at} precision="second" />{" "}
          <span class="muted">
            (<Until at={at} hasHappened={name === "revoked_at"} />)
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

function Requests({ of: ref }: { readonly of: string }) {
  const path = withQuery("/requests", { key: ref, limit: String(mostRequests) });
  const own = useResource<readonly Shown<"Request">[]>(path, ["world.", "request"]).data.value ?? [];
  return (
    <section class="panel stack" aria-label="Requests">
      <h2>Requests</h2>
      {own.length === 0 ? (
        <p class="muted">No requests with this key yet.</p>
      ) : (
        <>
          <ol class="list key-requests">
            {own.toReversed().map(({ id, at, method, path, path_id }) => (
              <li key={id} class="bar">
                <PathBadge pathId={path_id} />
                <a href={linkTo("requests", [id])}>
                  <bdi>
                    {method} {shortened(path, 80)}
                  </bdi>
                </a>
                <span class="muted">
                  <InstantText at={at} precision="second" />
                </span>
              </li>
            ))}
          </ol>
          <p>
            <a href={linkTo("requests", [], { key: ref })}>Show all requests with this key</a>
          </p>
        </>
      )}
    </section>
  );
}
