import { useEffect, useRef } from "preact/hooks";
import { useData } from "../control/data.js";
import type { ShownRequestDetails } from "../control/responses.js";
import { Read } from "../elements/action.js";
import { CopyButton } from "../elements/copy.js";
import { AdviceList, BodyText, CheckStrip, OutcomeText, Target } from "../elements/traffic.js";
import { FactList, InstantText, millisecondsText, Sentence } from "../elements/words.js";
import { changeQuery, linkTo, linkToKey, linkWithin } from "../route.js";
import { causeText, FixAndSend } from "./fix.js";
import { CopyCurl } from "./secret.js";

interface Sections {
  readonly request: ShownRequestDetails;
}

/** One request: next to the list, or in its place. It gets the focus; Escape closes it. A request that it sends again takes its place. */
export function RequestDetail({ id }: Readonly<{ id: string }>) {
  const path = `/requests/${encodeURIComponent(id)}` as const;
  const shown = useData(path).data;
  const panel = useRef<HTMLElement>(null);
  const again = useRef<{ readonly of: string; readonly id: string } | undefined>(undefined);
  const opened = again.current?.id === id ? again.current.of : id;
  useEffect(() => panel.current?.focus({ preventScroll: true }), [opened]);
  const onSent = (sent: string) => {
    again.current = { of: opened, id: sent };
    changeQuery({}, [sent]);
  };
  const back = linkWithin([]);
  const close = ({ key, target }: KeyboardEvent) => {
    if (key === "Escape" && (target as Element).closest("dialog") === null) location.hash = back;
  };
  return (
    <section class="panel stack detail" aria-label="Request" ref={panel} tabIndex={-1} onKeyDown={close}>
      <header class="bar apart nowrap">
        <h2>{shown === undefined ? "Request" : <Target request={shown} />}</h2>
        <a class="button quiet" href={back}>
          Close
        </a>
      </header>
      <Read path={path}>
        {(request) => (
          <>
            <Cause request={request} />
            <FixAndSend key={opened} request={request} onSent={onSent} />
            <Way request={request} isSentAgain={request.id === id && id !== opened} />
          </>
        )}
      </Read>
    </section>
  );
}

/** Where the request ended, why, and what to do about it. */
function Cause({ request }: Sections) {
  const { id, at, duration_ms: duration, source } = request;
  return (
    <div class="stack">
      <p class="muted small">
        <InstantText at={at} /> · <code>{id}</code> · {millisecondsText(duration)} · sent by{" "}
        {source === "story" ? "the story or this page" : "a client"}
      </p>
      <p>
        <OutcomeText of={request}>
          : <Sentence>{causeText(request)}</Sentence>
        </OutcomeText>
      </p>
      <p>{request.what_to_do}</p>
    </div>
  );
}

/** The way of a request through the checks, and what was sent and received. */
function Way({ request, isSentAgain }: Sections & Readonly<{ isSentAgain: boolean }>) {
  const { id, checks, outcome, status, advice_details: advice, repeat, text, sent, curl } = request;
  const { response } = request;
  return (
    <>
      <h3>Request checks</h3>
      <output>{isSentAgain && `Sent again: ${status === 0 ? "no response" : status}`}</output>
      <CheckStrip key={id} checks={checks} outcome={outcome} />
      {advice.length === 0 ? null : <h3>Advice</h3>}
      <AdviceList advice={advice} />
      <h3>Request</h3>
      <FactList
        class="pairs"
        of={[["Key", <KeyText request={request} />], ...Object.entries(sent.headers)]}
      />
      <h3>Response</h3>
      {response === null ? (
        <p class="muted">No response.</p>
      ) : (
        <>
          <FactList class="pairs" of={Object.entries(response.headers)} />
          <BodyText text={response.body} />
        </>
      )}
      <div class="bar">
        <CopyCurl keyRef={repeat.key} curl={curl} />
        <CopyButton text={text}>Copy for support</CopyButton>
      </div>
    </>
  );
}

function KeyText({ request: { id, key, fingerprint, sent } }: Sections) {
  const name = key ?? fingerprint ?? "none";
  return (
    <>
      {key === null ? (
        (sent.key_form ?? (fingerprint === null ? "none" : "unknown"))
      ) : (
        <a href={linkToKey(key)}>
          <bdi>{key}</bdi>
        </a>
      )}
      {fingerprint && (
        <>
          , fingerprint <code>{fingerprint}</code>
        </>
      )}
      , <a href={linkTo("requests", [id], { filter: name })}>Requests with this key</a>
    </>
  );
}
