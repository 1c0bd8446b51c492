import { useEffect, useRef } from "preact/hooks";
import { useData } from "../control/data.js";
import type { ShownRequestDetails } from "../control/responses.js";
import { linkTo, linkToKey, linkWithin } from "../control/route.js";
import { ShowData } from "../elements/action.js";
import { CopyButton } from "../elements/copy.js";
import { AdviceList, BodyText, CheckStrip, OutcomeText, Target } from "../elements/request-parts.js";
import { millisecondsText } from "../elements/text.js";
import { FactList, InstantText, Sentence } from "../elements/words.js";
import { causeText, FixAndSend } from "./fix.js";
import { CopyCurl } from "./secret.js";

interface RequestProps {
  readonly request: ShownRequestDetails;
}

/** One request: next to the list, or in a narrow window in its place. Escape closes it. */
export function RequestDetail({ id }: Readonly<{ id: string }>) {
  const path = `/requests/${encodeURIComponent(id)}` as const;
  const request = useData(path).data;

  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), [id]);

  const list = linkWithin([]);
  const close = (event: KeyboardEvent) => {
    if (event.key === "Escape") location.hash = list;
  };
  return (
    <section class="panel stack detail" aria-label="Request" ref={panel} tabIndex={-1} onKeyDown={close}>
      <header class="bar apart nowrap">
        <h2>{request === undefined ? "Request" : <Target request={request} />}</h2>
        <a class="button quiet" href={list}>
          Close
        </a>
      </header>
      <ShowData path={path}>
        {(shown) => (
          <>
            <Cause request={shown} />
            <FixAndSend key={shown.id} request={shown} />
            <ChecksAndContent request={shown} />
          </>
        )}
      </ShowData>
    </section>
  );
}

/** Where the request ended, why, and what to do about it. */
function Cause({ request }: RequestProps) {
  const { id, at, duration_ms, source } = request;
  const sender = source === "story" ? "the story or this page" : "a client";
  return (
    <div class="stack">
      <p class="muted small">
        <InstantText at={at} /> · <code>{id}</code> · {millisecondsText(duration_ms)} · sent by {sender}
      </p>
      <p>
        <OutcomeText of={request}>
          : <Sentence>{causeText(request)}</Sentence>
        </OutcomeText>
      </p>
      <p>
        <strong>What to do:</strong> {request.what_to_do}
      </p>
    </div>
  );
}

/** The request checks with their results, and what was sent and received. */
function ChecksAndContent({ request }: RequestProps) {
  const { advice_details, sent, response } = request;
  return (
    <>
      <h3>Request checks</h3>
      <CheckStrip key={request.id} checks={request.checks} outcome={request.outcome} />
      {advice_details.length > 0 && <h3>Advice</h3>}
      <AdviceList advice={advice_details} />
      <h3>Request</h3>
      <FactList
        class="pairs"
        facts={[["Key", <KeyText request={request} />], ...Object.entries(sent.headers)]}
      />
      <h3>Response</h3>
      {response === null && <p class="muted">No response.</p>}
      {response && <FactList class="pairs" facts={Object.entries(response.headers)} />}
      {response && <BodyText text={response.body} />}
      <div class="bar">
        <CopyCurl keyRef={request.repeat.key} curl={request.curl} />
        <CopyButton text={request.text}>Copy for support</CopyButton>
      </div>
    </>
  );
}

/** The key of a request, its fingerprint, and a link to other requests with it. */
function KeyText({ request }: RequestProps) {
  const { id, key, fingerprint, sent } = request;
  const nobody = fingerprint === null ? "none" : "unknown";
  return (
    <>
      {key === null && (sent.key_form ?? nobody)}
      {key !== null && (
        <a href={linkToKey(key)}>
          <bdi>{key}</bdi>
        </a>
      )}
      {fingerprint && ", fingerprint "}
      {fingerprint && <code>{fingerprint}</code>},{" "}
      <a href={linkTo("requests", [id], { filter: key ?? fingerprint ?? "none" })}>Requests with this key</a>
    </>
  );
}
