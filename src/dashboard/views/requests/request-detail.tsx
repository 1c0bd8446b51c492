import { useRef } from "preact/hooks";
import { baseUrl } from "../../control/call.js";
import { usePage } from "../../control/resource.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton, CopyCurl } from "../../elements/copy-button.js";
import { Detail } from "../../elements/detail.js";
import { aboutPaths, DocsLink } from "../../elements/docs-link.js";
import { Fact } from "../../elements/fact.js";
import { RejectionText } from "../../elements/forms/action.js";
import { InstantText } from "../../elements/instant.js";
import { AdviceList, Target } from "../../elements/traffic/advice.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { Checks } from "../../elements/traffic/checks.js";
import { OwnFault, PathBadge } from "../../elements/traffic/path-badge.js";
import { millisecondsText } from "../../elements/words.js";
import { changeQuery, linkTo, route } from "../../route.js";
import { curlOf } from "./curl.js";
import { causeText, FixAndSend } from "./fix.js";

type Details = Shown<"RequestDetails">;

interface Sections {
  readonly request: Details;
}

/** One request. When it is sent again from here, its successor takes its place. */
export function RequestDetail({ id }: { readonly id: string }) {
  const { shown, problem } = usePage<Details>(`/requests/${encodeURIComponent(id)}`);
  const again = useRef<{ readonly of: string; readonly id: string } | undefined>(undefined);
  const opened = again.current?.id === id ? again.current.of : id;
  const onSent = (sent: string) => {
    again.current = { of: opened, id: sent };
    changeQuery({}, [sent]);
  };
  const row = (one: string) => `.request-list [data-row="${CSS.escape(one)}"] a`;
  return (
    <Detail
      label="Request"
      title={shown === undefined ? "Request" : <Target request={shown} />}
      buttons={shown && <CopyButton text={shown.text}>Copy for support</CopyButton>}
      back={linkTo("requests", [], Object.fromEntries(route.value.query))}
      // The filters may leave out a request that was sent again.
      returnTo={[row(id), row(opened), ".request-list tbody a", "main"]}
    >
      <RejectionText problem={problem} />
      {shown === undefined ? (
        problem === undefined && <p class="muted">Reading…</p>
      ) : (
        <>
          <When request={shown} />
          <Cause request={shown} />
          <FixAndSend key={opened} request={shown} onSent={onSent} />
          <dl>
            <Fact name="What to do">{shown.what_to_do}</Fact>
          </dl>
          <Way request={shown} isSentAgain={shown.id === id && id !== opened} />
        </>
      )}
    </Detail>
  );
}

/** The way of a request through the checks, what was sent and received, and the requests around it. */
function Way({ request, isSentAgain }: Sections & { readonly isSentAgain: boolean }) {
  const { id, checks, path_id: pathId, status, advice_details: advice, repeat } = request;
  return (
    <>
      <h3>Request checks</h3>
      <output>{isSentAgain ? `Sent again: ${status === 0 ? "no response" : status}` : null}</output>
      <Checks key={id} label="Request checks" checks={checks} pathId={pathId} />
      <Facts request={request} />
      {advice.length === 0 ? null : (
        <>
          <h3>Advice</h3>
          <AdviceList advice={advice} />
        </>
      )}
      <h3>Response</h3>
      <ReceivedResponse request={request} />
      <h3>As code</h3>
      <p class="bar">
        <CopyCurl keyRef={repeat.key} line={(secret) => curlOf(request, baseUrl, secret)} />
        <span class="muted wide">
          The journal stores a query and a body only of documented endpoints, and no other headers.
        </span>
      </p>
    </>
  );
}

function When({ request: { id, at, duration_ms, source } }: Sections) {
  return (
    <p class="muted small">
      <InstantText at={at} /> · <code>{id}</code> · {millisecondsText(duration_ms)} · sent by{" "}
      {source === "story" ? "the story or this page" : "a client"}
    </p>
  );
}

function Facts({ request }: Sections) {
  const { id, key, fingerprint, sent, around } = request;
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
        {around.length < 2 ? null : (
          <p>
            <a href={linkTo("requests", [id], { key: key ?? fingerprint ?? "none" })}>
              Requests with this key
            </a>
          </p>
        )}
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
function Cause({ request }: Sections) {
  const { status, code, path_id: pathId, fault } = request;
  return (
    <dl class="cause">
      <Fact name="Result">
        <strong>{status === 0 ? "No response" : status}</strong> {code === null ? null : <code>{code}</code>}{" "}
        at{" "}
        <DocsLink to={aboutPaths}>
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
    </dl>
  );
}

function ReceivedResponse({ request: { response, fault } }: Sections) {
  if (response === null) {
    return (
      <p class="muted">
        {fault === null ? "None, or your handler sent it." : "None: the fault ended the request."}
      </p>
    );
  }
  const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
  return (
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
  );
}
