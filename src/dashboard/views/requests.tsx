import { useData } from "../control/data.js";
import type { Request } from "../control/responses.js";
import { RejectionText } from "../elements/action.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows, useSteadyRow } from "../elements/list.js";
import { adviceTones, OutcomeBadge, Target, toneOf } from "../elements/traffic.js";
import { counted, instantParts } from "../elements/words.js";
import { linkWithin, route } from "../route.js";
import { RequestDetail } from "./request.js";
import { useCurlLine } from "./secret.js";

/** Requests, each with a link that opens it: one line where the columns fit, otherwise two. The query of the address stays. */
export function RequestsView() {
  const opened = route.value.parts[0];
  useSteadyRow(opened);
  const { data, problem } = useData("/requests");
  const all = data ?? [];
  const chosen = filtered(all, filterInAddress()).toReversed();
  return (
    <div class={opened === undefined ? undefined : "with-detail"}>
      <div class="stack gap">
        <ListHead
          title="Requests"
          count={
            data && {
              matching: chosen.length,
              total: all.length,
              all: all.length === 1000 ? "the last 1,000" : counted(all.length, "request"),
            }
          }
          placeholder="Key, outcome, status, advice or id"
        />
        <RejectionText problem={problem} />
        {data === undefined ? null : chosen.length === 0 ? (
          <Nothing isFiltered={all.length > 0} />
        ) : (
          <div class="panel rows-box">
            <ol class="rows requests" aria-label="List of requests">
              {chosen.slice(0, limitInAddress()).map((request, index, shown) => (
                <Row
                  key={request.id}
                  request={request}
                  above={shown[index - 1]}
                  isOpen={request.id === opened}
                />
              ))}
            </ol>
          </div>
        )}
        <MoreRows left={chosen.length - limitInAddress()} />
      </div>
      {opened && <RequestDetail id={opened} />}
    </div>
  );
}

/** The words by which a request is found. */
function wordsOf(request: Request): readonly string[] {
  const { id, key, fingerprint, outcome, fault, status, method, path, code, advice } = request;
  const words = [key ?? fingerprint ?? "none", outcome, id, method, path, code ?? "", fault ?? ""];
  return [...words, ...advice, `${status}`, `${status}`.replace(/..$/, "xx")];
}

/** The requests with each word of a filter: as a whole if one has it so, otherwise as a part. */
function filtered(requests: readonly Request[], filter: string): readonly Request[] {
  return filter
    .split(/\s+/)
    .filter(Boolean)
    .reduce((left, word) => {
      const exact = left.filter((request) => wordsOf(request).includes(word));
      if (exact.length > 0) return exact;
      return left.filter((request) => wordsOf(request).some((text) => text.includes(word)));
    }, requests);
}

function Nothing({ isFiltered }: Readonly<{ isFiltered: boolean }>) {
  const line = useCurlLine();
  if (isFiltered) return <p class="panel muted">No requests match this filter.</p>;
  return (
    <div class="panel stack">
      <p>No requests yet. Point your client at this base URL, or send one from a shell:</p>
      <pre class="code">{line}</pre>
    </div>
  );
}

function Row({
  request,
  above,
  isOpen,
}: Readonly<{ request: Request; above: Request | undefined; isOpen: boolean }>) {
  const { id, at, status, outcome, key, fingerprint, source, fault, advice } = request;
  const [day, time] = instantParts(at);
  const report = useData("/report?story=true").data;
  const level = report?.advice.find((row) => advice.includes(row.id))?.level ?? "note";
  return (
    <>
      {above !== undefined && instantParts(above.at)[0] === day ? null : (
        <li class="day muted small">{day}</li>
      )}
      <li data-row={id}>
        <strong class={`toned tone-${toneOf(outcome)}`}>{status === 0 ? "none" : status}</strong>
        {/* Its link covers the row. */}
        <a href={linkWithin([id])} aria-current={isOpen}>
          <OutcomeBadge outcome={outcome} />
        </a>
        <bdi>{key ?? fingerprint ?? "no key"}</bdi>
        <span class="row-target muted">
          <Target request={request} max={80} />
        </span>
        <span class="marks">
          {source === "story" && <span class="badge">story or page</span>}
          {fault && <span class="badge">fault</span>}
          {advice.length === 0 ? null : <span class={`badge toned tone-${adviceTones[level]}`}>{level}</span>}
        </span>
        <time class="muted" dateTime={at} title={at}>
          {time}
        </time>
      </li>
    </>
  );
}
