import { useEffect, useRef } from "preact/hooks";
import { useData } from "../control/data.js";
import type { ShownRequest, ShownRequestDetails } from "../control/responses.js";
import { linkTo, linkToKey, linkWithin, route } from "../control/route.js";
import { RejectionText, ShowData } from "../elements/action.js";
import { CopyButton } from "../elements/copy.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows, useRowInSight } from "../elements/list.js";
import {
  AdviceList,
  adviceTones,
  BodyText,
  CheckStrip,
  OutcomeBadge,
  OutcomeText,
  Target,
  toneOf,
} from "../elements/request-parts.js";
import { counted, FactList, InstantText, instantParts, Sentence } from "../elements/words.js";
import { causeText, FixAndSend } from "./fix.js";
import { CopyCurl, useCurlLine } from "./secret.js";

/** Requests, each with a link that opens it: one line where the columns fit, otherwise two. The query of the address stays. */
export function RequestsView() {
  const opened = route.value.parts[0];
  useRowInSight(opened);
  const { data, problem } = useData("/requests");
  const total = data?.length ?? 0;
  const words = filterInAddress().toLowerCase().split(/\s+/).filter(Boolean);
  const newestFirst = filterRequests(words, data ?? []).toReversed();
  const matching = newestFirst.length;

  // The journal keeps no more than 1,000.
  const allWords = total === 1000 ? "the last 1,000" : counted(total, "request");
  const shown = newestFirst.slice(0, limitInAddress());
  const rows = shown.map((request, index) => (
    <Row key={request.id} request={request} above={shown[index - 1]} isOpen={request.id === opened} />
  ));
  return (
    <div class={opened && "with-detail"}>
      <div class="stack gap">
        <ListHead
          title="Requests"
          count={data && { matching, total, all: allWords }}
          placeholder="Key, outcome, status, advice or id"
        />
        <RejectionText problem={problem} />
        {matching > 0 && (
          <div class="panel rows-box">
            <ol class="rows requests" aria-label="List of requests">
              <li class="heads muted small" aria-hidden="true">
                <span>Outcome</span>
                <span>Key</span>
                <span>Request</span>
                <span />
                <span>Duration</span>
                <span>Time</span>
              </li>
              {rows}
            </ol>
          </div>
        )}
        {data && matching === 0 && <NoRequests isFiltered={total > 0} />}
        <MoreRows left={matching - shown.length} />
      </div>
      {opened && <RequestDetail id={opened} />}
    </div>
  );
}

/** The words by which a request is found, in lower case: its status also as `4xx`. */
function searchWords(request: ShownRequest): readonly string[] {
  const { id, key, fingerprint, outcome, fault, method, path, code, advice } = request;
  const sender = key ?? fingerprint ?? "none";
  const status = `${request.status}`;
  const statusClass = status.replace(/..$/, "xx");
  const words = [sender, outcome, id, method, path, code ?? "", fault ?? "", ...advice, status, statusClass];
  return words.map((word) => word.toLowerCase());
}

/** The requests with each word of a filter: those that have the whole word; if there are none, those that have it as a part. */
function filterRequests(
  words: readonly string[],
  requests: readonly ShownRequest[],
): readonly ShownRequest[] {
  let left = requests;
  for (const word of words) {
    const withWhole = left.filter((request) => searchWords(request).includes(word));
    if (withWhole.length > 0) left = withWhole;
    else left = left.filter((request) => searchWords(request).some((text) => text.includes(word)));
  }
  return left;
}

/** What is shown in place of an empty list. */
function NoRequests({ isFiltered }: Readonly<{ isFiltered: boolean }>) {
  const line = useCurlLine();
  if (isFiltered) return <p class="panel muted">No requests match this filter.</p>;
  return (
    <div class="panel stack">
      <p>No requests yet. Point your client at this base URL, or send one from a shell:</p>
      <pre class="code">{line}</pre>
    </div>
  );
}

/** The duration of a request: `12.5 ms`, or `< 0.1 ms`. */
function millisecondsText(duration: number): string {
  return duration < 0.1 ? "< 0.1 ms" : `${duration.toFixed(1)} ms`;
}

/** A request of the list; before the first one of a day, the day. */
function Row(props: {
  readonly request: ShownRequest;
  /** The request of the row above, unless it is the first one. */
  readonly above: ShownRequest | undefined;
  readonly isOpen: boolean;
}) {
  const { request, above, isOpen } = props;
  const { id, at, status, outcome, key, fingerprint, source, fault, advice, duration_ms } = request;
  // The outcome of a fault, such as `fault.reset`, does not contain the status.
  const hasStatus = outcome.startsWith(`${status}.`);
  const { date, time } = instantParts(at);
  const dateAbove = above && instantParts(above.at).date;

  // The report lists the most severe advice first.
  const report = useData("/report?story=true").data;
  const level = report?.advice.find((row) => advice.includes(row.id))?.level ?? "note";
  return (
    <>
      {date !== dateAbove && <li class="day muted small">{date}</li>}
      <li data-row={id}>
        {/* Its link covers the row. */}
        <a class={`toned tone-${toneOf(outcome)}`} href={linkWithin([id])} aria-current={isOpen}>
          <OutcomeBadge outcome={outcome} /> {!hasStatus && (status === 0 ? "no response" : status)}
        </a>
        <bdi>{key ?? fingerprint ?? "no key"}</bdi>
        <span class="row-target muted">
          <Target request={request} max={80} />
        </span>
        <span class="marks">
          {source === "story" && <span class="badge">story or page</span>}
          {fault && <span class="badge">fault</span>}
          {advice.length > 0 && <span class={`badge toned tone-${adviceTones[level]}`}>{level}</span>}
        </span>
        <span class="muted duration">{millisecondsText(duration_ms)}</span>
        <time class="muted" dateTime={at} title={at}>
          {time}
        </time>
      </li>
    </>
  );
}

type RequestProps = Readonly<{ request: ShownRequestDetails }>;

/** One request: next to the list, or in a narrow window in its place. Escape closes it. */
function RequestDetail({ id }: Readonly<{ id: string }>) {
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
        {request.repeat && request.curl && <CopyCurl keyRef={request.repeat.key} curl={request.curl} />}
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
