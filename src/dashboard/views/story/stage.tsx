import type { Shown } from "../../control/responses.js";
import { InstantText } from "../../elements/instant.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { OwnFault, PathBadge, toneOf } from "../../elements/traffic/path-badge.js";
import { shortened } from "../../elements/words.js";

export function Stage(props: {
  readonly step: Shown<"StepResult">;
  /** The narration, possibly from an earlier step. */
  readonly narration: string | null;
  readonly requestChecks: Shown<"RequestChecks"> | undefined;
  /** Whether everything was as the step expects; `null` if it expects nothing. */
  readonly verdict: boolean | null;
}) {
  const { step, narration, requestChecks, verdict } = props;
  const { say, text, request, response, performed, meanwhile } = step;
  return (
    <>
      {verdict === false ? <Failure step={step} /> : null}
      {narration === null ? null : (
        <p class={say === null ? "narration before" : "narration"}>
          <bdi>{shortened(narration, 4000)}</bdi>
        </p>
      )}
      {response === null || requestChecks === undefined ? null : (
        <CheckStrip requestChecks={requestChecks} response={response} />
      )}
      {verdict ? <p class="verdict toned tone-success">✓ As expected.</p> : null}
      {request === null ? null : <Exchange request={request} response={response} />}
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
type Response = Shown<"StepResult">["response"];

function Exchange({ request, response }: { readonly request: Request; readonly response: Response }) {
  const { method, path, key, headers, body, times } = request;
  return (
    <div class="exchange">
      <section class="panel stack" aria-label="The request">
        <h2>{times === 1 ? "Request" : `Request, ${times} times`}</h2>
        <p>
          <code>
            <bdi>
              {method} {shortened(path, 400)}
            </bdi>
          </code>
        </p>
        <p>
          Key{" "}
          <strong>
            <bdi>{key}</bdi>
          </strong>
        </p>
        <Headers headers={headers} />
        {body === null ? null : <BodyText text={body} />}
      </section>
      {response === null ? null : (
        <section class={`panel stack response tone-${toneOf(response.path_id)}`} aria-label="The response">
          <h2>{times === 1 ? "Response" : "The last response"}</h2>
          {response.status === 0 ? (
            <p class="status">No response</p>
          ) : (
            <p class="status">
              {response.status} {response.code === null ? null : <code>{response.code}</code>}
            </p>
          )}
          <Headers headers={response.headers} />
          {response.body === "" ? null : <BodyText text={response.body} />}
        </section>
      )}
    </div>
  );
}

// Transport headers are not part of the story.
const hidden = ["content-length", "date", "connection", "content-type"];

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const shown = Object.entries(headers).filter(([name]) => !hidden.includes(name));
  if (shown.length === 0) return null;
  return (
    <ul class="small">
      {shown.map(([name, value]) => (
        <li key={name}>
          <code>{name}</code>: <bdi>{shortened(value, 400)}</bdi>
        </li>
      ))}
    </ul>
  );
}

const results = {
  passed: ["✓ ", "passed"],
  rejected: ["✗ ", "rejected"],
  unreached: ["", "not reached"],
} as const;

/** The checks in order with their results for one request, and its outcome. */
function CheckStrip({
  requestChecks,
  response,
}: {
  readonly requestChecks: Shown<"RequestChecks">;
  readonly response: NonNullable<Response>;
}) {
  const { path_id: pathId, fault } = response;
  // A fault that only delays a request does not change its outcome.
  const isFaulty = fault === pathId;
  const rejectedAt = requestChecks.checks.findIndex(({ exits }) => exits.includes(pathId));
  const reached = isFaulty ? 0 : rejectedAt === -1 ? requestChecks.checks.length : rejectedAt;
  return (
    <section class="stack check-strip" aria-label="Request checks">
      <ol>
        {requestChecks.checks.map(({ name, question }, index) => {
          const state = index < reached ? "passed" : index === rejectedAt ? "rejected" : "unreached";
          const [mark, words] = results[state];
          return (
            <li key={name} class={`${state} tone-${toneOf(pathId)}`} title={question}>
              <span aria-hidden="true">{mark}</span>
              {name}
              <span class="visually-hidden">: {words}</span>
            </li>
          );
        })}
      </ol>
      <p>
        {isFaulty ? "A fault hit the request before the checks: " : "Outcome: "}
        <PathBadge pathId={pathId} />
        {fault === null || isFaulty ? null : (
          <>
            , delayed by the fault <PathBadge pathId={fault} />
          </>
        )}
        <OwnFault fault={fault} />
      </p>
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
      <p class="verdict failed">
        This step cannot run: <bdi>{failure.message}</bdi> <code>{failure.code}</code>
      </p>
    );
  }
  return (
    <div class="verdict failed">
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
