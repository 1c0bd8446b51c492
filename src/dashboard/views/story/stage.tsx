import type { Shown } from "../../control/responses.js";
import { InstantText } from "../../elements/instant.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { Checks, resultsAt } from "../../elements/traffic/checks.js";
import { OwnFault, PathBadge, toneOf } from "../../elements/traffic/path-badge.js";
import { shortened } from "../../elements/words.js";

interface StageProps {
  readonly step: Shown<"StepResult">;
  readonly requestChecks: Shown<"RequestChecks"> | undefined;
  /** Whether everything was as the step expects; `null` if it expects nothing. */
  readonly verdict: boolean | null;
}

/** The step of a story that ran last. Its narration leaves with it. */
export function Stage({ step, requestChecks, verdict }: StageProps) {
  const { say, text, request, response, performed, meanwhile } = step;
  return (
    <>
      {verdict === false ? <Failure step={step} /> : null}
      {say === null ? null : (
        <p class="narration">
          <bdi>{shortened(say, 4000)}</bdi>
        </p>
      )}
      {request === null ? null : <RequestLine request={request} />}
      {response === null ? null : <ResponsePanel response={response} isAsExpected={verdict === true} />}
      {response === null || requestChecks === undefined ? null : (
        <CheckStrip requestChecks={requestChecks} response={response} />
      )}
      {text === null ? null : (
        <p class={performed?.rejection ? "happening rejected" : "happening"}>
          <bdi>{text}</bdi>
          {performed?.rejection ? <small>{performed.rejection.message}</small> : null}
        </p>
      )}
      {meanwhile.length === 0 ? null : <Meanwhile steps={meanwhile} />}
    </>
  );
}

type Request = NonNullable<Shown<"StepResult">["request"]>;
type Response = NonNullable<Shown<"StepResult">["response"]>;

function RequestLine({ request }: { readonly request: Request }) {
  const { method, path, key, headers, body, times } = request;
  return (
    <section class="stack" aria-label="The request">
      <p class="request-line">
        <code>
          <bdi>
            {method} {shortened(path, 400)}
          </bdi>
        </code>{" "}
        {key === "none" ? (
          "without a key"
        ) : (
          <>
            with the key{" "}
            <strong>
              <bdi>{key}</bdi>
            </strong>
          </>
        )}
        {times === 1 ? "" : `, ${times} times`}
      </p>
      <Headers headers={headers} />
      {body === null ? null : <BodyText text={body} width={100} />}
    </section>
  );
}

function ResponsePanel(props: { readonly response: Response; readonly isAsExpected: boolean }) {
  const { status, code, headers, body, path_id: pathId, fault } = props.response;
  return (
    <section class={`panel stack response tone-${toneOf(pathId)}`} aria-label="The response">
      <p class="bar">
        <span class="status">
          {status === 0 ? "No response" : status} {code === null ? null : <code>{code}</code>}
        </span>
        <span>
          <PathBadge pathId={pathId} />
          {fault === null || fault === pathId ? null : (
            <>
              , delayed by the fault <PathBadge pathId={fault} />
            </>
          )}
          <OwnFault fault={fault} />
        </span>
        {props.isAsExpected ? <span class="verdict toned tone-success end">✓ As expected</span> : null}
      </p>
      <Headers headers={headers} />
      {body === "" ? null : <BodyText text={body} width={100} />}
    </section>
  );
}

// Transport headers are not part of the story, and ids say nothing to an audience.
const hidden = ["content-length", "date", "connection", "content-type", "x-request-id"];

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const shown = Object.entries(headers).filter(([name]) => !hidden.includes(name));
  if (shown.length === 0) return null;
  return (
    <ul class="headers">
      {shown.map(([name, value]) => (
        <li key={name}>
          <code>{name}</code>: <bdi>{shortened(value, 400)}</bdi>
        </li>
      ))}
    </ul>
  );
}

interface CheckStripProps {
  readonly requestChecks: Shown<"RequestChecks">;
  readonly response: Response;
}

function CheckStrip({ requestChecks, response: { path_id: pathId, fault } }: CheckStripProps) {
  // A fault that only delays a request does not change its outcome.
  const isFault = fault === pathId;
  return (
    <section class="stack" aria-label="Request checks">
      {isFault ? <p>A fault hit the request before the checks.</p> : null}
      <Checks
        label="Request checks"
        checks={resultsAt(requestChecks.checks, pathId, isFault)}
        pathId={pathId}
      />
    </section>
  );
}

function Meanwhile({ steps }: { readonly steps: Shown<"StepResult">["meanwhile"] }) {
  return (
    <section class="stack" aria-labelledby="meanwhile-title">
      <h2 id="meanwhile-title">From the timeline</h2>
      <ul class="bulleted">
        {steps.map(({ timeline_step: number, at, text, message }) => (
          <li key={number}>
            <InstantText at={at} />: <bdi>{text}</bdi> {message === null ? null : <small>{message}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Failure({ step: { differences, failure } }: { readonly step: Shown<"StepResult"> }) {
  if (failure !== null) {
    return (
      <p class="notice warning" role="alert">
        This step cannot run: <bdi>{failure.message}</bdi> <code>{failure.code}</code>
      </p>
    );
  }
  return (
    <div class="notice warning">
      <p>Not as expected:</p>
      <ul class="bulleted">
        {differences.map(({ at, expected, found }) => (
          <li key={at}>
            <code>{at}</code>: expected <bdi>{expected}</bdi>, found <bdi>{found}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}
