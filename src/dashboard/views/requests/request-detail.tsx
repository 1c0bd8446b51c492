import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type ControlError, call } from "../../control/call.js";
import { connection } from "../../control/events.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton, CopyCurl } from "../../elements/copy-button.js";
import { aboutPath, DocsLink } from "../../elements/docs-link.js";
import { Fact } from "../../elements/fact.js";
import { RejectionText } from "../../elements/forms/action.js";
import { InstantText } from "../../elements/instant.js";
import { useKeyboard } from "../../elements/keyboard.js";
import { AdviceList, Target } from "../../elements/traffic/advice.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { Checks } from "../../elements/traffic/checks.js";
import { OwnFault, PathBadge } from "../../elements/traffic/path-badge.js";
import { millisecondsText } from "../../elements/words.js";
import { changeParts, linkTo, route } from "../../route.js";
import { clientCode } from "./client-code.js";
import { FixAndSend } from "./fix.js";
import { causeText, requestsAround, secondsText } from "./request-words.js";

export function RequestDetail({ id }: { readonly id: string }) {
  const read = useSignal<Shown<"RequestDetails"> | undefined>(undefined);
  const problem = useSignal<ControlError | undefined>(undefined);
  const panel = useRef<HTMLElement>(null);
  // The request that was opened; the shown one may be the same, sent again.
  const opened = useRef(id);
  if (read.value?.id !== id) opened.current = id;
  useEffect(() => {
    // A request never changes. It is read once, or again after a lost connection.
    if (read.peek()?.id === id || connection.value === "waiting") return;
    read.value = undefined;
    call<Shown<"RequestDetails">>(`/requests/${encodeURIComponent(id)}`).then(
      (response) => {
        problem.value = undefined;
        read.value = response;
      },
      (error: ControlError) => {
        problem.value = error;
      },
    );
  }, [connection.value, id]);
  useEffect(() => {
    // On a narrow page this replaces the list, which would lose the focus.
    if (!document.querySelector(".request-list")?.checkVisibility()) panel.current?.focus();
  }, []);
  const back = linkTo("requests", [], Object.fromEntries(route.value.query));
  useKeyboard(({ key, target }) => {
    if (key !== "Escape" || (target as Element).closest("select, dialog") !== null) return;
    // The list may be hidden until then. The filters may leave out a request that was sent again.
    const focus = () => setTimeout(() => focusRow([id, opened.current]));
    addEventListener("hashchange", focus, { once: true });
    location.hash = back;
  });
  const request = read.value;
  return (
    <section
      class="panel stack detail request-detail"
      aria-labelledby="request-title"
      ref={panel}
      tabIndex={-1}
    >
      <header class="bar apart">
        <h2 id="request-title">{request === undefined ? "Request" : <Target request={request} />}</h2>
        <span class="bar">
          {request === undefined ? null : <CopyButton text={request.text}>Copy for support</CopyButton>}
          <a href={back}>Close</a>
        </span>
      </header>
      {request === undefined ? null : <When request={request} />}
      <RejectionText problem={problem.value} />
      {request === undefined ? (
        problem.value === undefined && <p class="muted">Reading…</p>
      ) : (
        <>
          <Cause request={request} />
          <FixAndSend
            key={opened.current}
            request={request}
            onSent={(sent) => {
              read.value = sent;
              changeParts([sent.id]);
            }}
          />
          <dl>
            <Fact name="What to do">{request.what_to_do}</Fact>
          </dl>
          <RequestChecks request={request} isSentAgain={id !== opened.current} />
          <Facts request={request} />
          {request.advice_details.length === 0 ? null : (
            <>
              <h3>Advice</h3>
              <AdviceList advice={request.advice_details} />
            </>
          )}
          <Retries request={request} />
          <ReceivedResponse request={request} />
          <AsCode request={request} />
        </>
      )}
    </section>
  );
}

function When({ request: { id, at, duration_ms, source } }: { readonly request: Shown<"RequestDetails"> }) {
  return (
    <p class="muted small">
      <InstantText at={at} /> · <code>{id}</code> · {millisecondsText(duration_ms)} · sent by{" "}
      {source === "story" ? "the story or this page" : "a client"}
    </p>
  );
}

function focusRow(ids: readonly string[]): void {
  const found = (selector: string) => document.querySelector<HTMLElement>(selector);
  const row = ids.map((id) => found(`.request-list [data-id="${CSS.escape(id)}"]`)).find(Boolean);
  (row ?? found(".request-row") ?? found("main"))?.focus();
}

function Facts({ request }: { readonly request: Shown<"RequestDetails"> }) {
  const { key, fingerprint, sent } = request;
  return (
    <dl class="facts of-request">
      <Fact name="Key">
        {key === null ? (
          fingerprint === null ? (
            "none"
          ) : (
            "unknown"
          )
        ) : (
          <a href={linkTo("keys", [key])}>
            <bdi>{key}</bdi>
          </a>
        )}{" "}
        {fingerprint === null ? null : (
          <span class="muted">
            fingerprint <code>{fingerprint}</code>
          </span>
        )}
        {sent.key_form === null ? null : <p>{sent.key_form}</p>}
      </Fact>
      {Object.entries(sent.headers).map(([name, value]) => (
        <Fact key={name} name={name}>
          <bdi>{value}</bdi>
        </Fact>
      ))}
    </dl>
  );
}

/** Where the request ended, and why. */
function Cause({ request }: { readonly request: Shown<"RequestDetails"> }) {
  const { status, code, path_id: pathId, why, fault } = request;
  return (
    <dl class="cause">
      <Fact name="Response">
        <strong>{status === 0 ? "No response" : status}</strong> {code === null ? null : <code>{code}</code>}{" "}
        at{" "}
        <DocsLink to={aboutPath(pathId)}>
          <PathBadge pathId={pathId} />
        </DocsLink>
        : <bdi>{causeText(request)}</bdi>
        {fault === null || fault === pathId ? null : (
          <>
            , delayed by <PathBadge pathId={fault} />
          </>
        )}
        <OwnFault fault={fault} />
      </Fact>
      {why === null ? null : <Fact name="Why">{why}</Fact>}
    </dl>
  );
}

/** The requests with the same key around a request. */
function Retries({ request: { id, at }, request }: { readonly request: Shown<"RequestDetails"> }) {
  const around = requestsAround(request);
  if (around.length < 2) return null;
  return (
    <>
      <h3>Requests with this key</h3>
      <ol class="list small">
        {around.map((one) => (
          <li key={one.id} class="bar">
            <span>{one.id === id ? "this one" : secondsText(one.at, at)}</span>
            <PathBadge pathId={one.path_id} />
            <a href={linkTo("requests", [one.id])}>
              <code>{one.id}</code>
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}

interface RequestChecksProps {
  readonly request: Shown<"RequestDetails">;
  /** Whether this page has sent it again, so that it passes the checks one by one. */
  readonly isSentAgain: boolean;
}

function RequestChecks({
  request: { id, checks, path_id: pathId, status },
  isSentAgain,
}: RequestChecksProps) {
  return (
    <>
      <h3>Request checks</h3>
      <output>{isSentAgain ? `Sent again: ${status === 0 ? "no response" : status}` : null}</output>
      <Checks key={id} label="Request checks" checks={checks} pathId={pathId} isNew={isSentAgain} />
    </>
  );
}

function ReceivedResponse({ request: { response, fault } }: { readonly request: Shown<"RequestDetails"> }) {
  if (response === null) {
    return (
      <>
        <h3>Response</h3>
        <p class="muted">
          {fault === null ? "None, or your handler sent it." : "None: the fault ended the request."}
        </p>
      </>
    );
  }
  const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <h3>Response</h3>
      <div class="stack request-response">
        <pre>{[`HTTP ${response.status}`, ...headers].join("\n")}</pre>
        {response.body === "" ? (
          <p class="muted">No body.</p>
        ) : (
          <>
            <BodyText text={response.body} />
            <CopyButton text={response.body}>Copy the body</CopyButton>
          </>
        )}
      </div>
    </>
  );
}

function AsCode({ request }: { readonly request: Shown<"RequestDetails"> }) {
  const { curl, fetch } = clientCode(request);
  const { key, path_id: pathId } = request;
  const ref = key ?? (pathId === "401.malformed" ? "malformed" : "unknown");
  return (
    <>
      <h3>As code</h3>
      <p class="bar">
        <CopyCurl line={curl} keyRef={ref} />
        <CopyButton text={fetch}>Copy as fetch</CopyButton>
      </p>
      <p class="muted">
        fetch reads the variables of <code>--write-env</code>. The journal stores no query, body or other
        headers: add them if the response depends on them.
      </p>
    </>
  );
}
