import type { ComponentChildren } from "preact";
import { useData } from "../control/data.js";
import type { ShownRequest } from "../control/responses.js";
import { linkWithin, route } from "../control/route.js";
import { RejectionText } from "../elements/action.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows, useRowInSight } from "../elements/list.js";
import { adviceTones, OutcomeBadge, Target } from "../elements/request-parts.js";
import { counted, instantParts, millisecondsText } from "../elements/text.js";
import { RequestDetail } from "./request.js";
import { useCurlLine } from "./secret.js";

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
        {matching > 0 && <RequestList>{rows}</RequestList>}
        {data && matching === 0 && <NoRequests isFiltered={total > 0} />}
        <MoreRows left={matching - shown.length} />
      </div>
      {opened && <RequestDetail id={opened} />}
    </div>
  );
}

/** The rows below the heads of their columns. */
function RequestList({ children }: { readonly children: ComponentChildren }) {
  return (
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
        {children}
      </ol>
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

/** The requests with a word of the filter: those that have the whole word; if there are none, those that have it as a part. */
function requestsWith(word: string, requests: readonly ShownRequest[]): readonly ShownRequest[] {
  const withWhole = requests.filter((request) => searchWords(request).includes(word));
  if (withWhole.length > 0) return withWhole;
  return requests.filter((request) => searchWords(request).some((text) => text.includes(word)));
}

/** The requests with each word of a filter. Each word looks only at the requests that the words before it have left. */
function filterRequests(
  words: readonly string[],
  requests: readonly ShownRequest[],
): readonly ShownRequest[] {
  let left = requests;
  for (const word of words) left = requestsWith(word, left);
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
        <a href={linkWithin([id])} aria-current={isOpen}>
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
