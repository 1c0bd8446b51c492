import { useSignal } from "@preact/signals";
import type { Report, Sent } from "../../control/answers.js";
import { baseUrl, call } from "../../control/call.js";
import { CodeLine } from "../../elements/copy-button.js";
import { aboutPath, DocsLink } from "../../elements/docs-link.js";
import { ActionButton } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo } from "../../route.js";

export type ReportedPath = Report["paths"][number];
type HowToMeet = NonNullable<ReportedPath["how_to_meet"]>;

interface ExitProps {
  readonly path: ReportedPath;
  /** The number of such requests by the story and this page. */
  readonly fromStory: number;
}

/** An open outcome: its cause, its number of requests, and instructions to cover it. */
export function Exit({ path, fromStory }: ExitProps) {
  const { path_id: pathId, when, count, preview_count: inPreview, how_to_meet: how } = path;
  return (
    <section class="exit-detail" aria-label={`Outcome ${pathId}`}>
      <p>
        <DocsLink to={aboutPath(pathId)}>
          <PathBadge pathId={pathId} />
        </DocsLink>
        : {when}.
      </p>
      <p>
        Client requests: {count.toLocaleString("en")}
        {inPreview === 0 ? "" : `, and ${inPreview.toLocaleString("en")} to announced endpoints`}. Story and
        this page: {fromStory.toLocaleString("en")}.{" "}
        {count + inPreview + fromStory === 0 ? null : (
          <a href={linkTo("requests", [], { path: pathId })}>Show these requests</a>
        )}
      </p>
      {how === null ? null : <Meeting how={how} />}
    </section>
  );
}

function Meeting({ how }: { readonly how: HowToMeet }) {
  return (
    <>
      <p>
        <strong>How to cover it:</strong> {how.text}.
      </p>
      <CodeLine code={how.curl} />
      <p class="muted">
        Run it in a shell with the variables from <code>--write-env</code>. Here <code>SVC_BASE_URL</code> is{" "}
        <code>{baseUrl}</code>.
      </p>
      <SendNow how={how} />
    </>
  );
}

/** Sends the request from this page. It does not count as a client request. */
function SendNow({ how: { ref, request, scenario, reset } }: { readonly how: HowToMeet }) {
  const sent = useSignal<Sent | undefined>(undefined);
  const send = async () => {
    sent.value = undefined;
    if (scenario !== null) await call("/scenario", { method: "PUT", body: { name: scenario } });
    else if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request, body: request.body ?? undefined };
    sent.value = await call<Sent>("/send", { method: "POST", body });
  };
  const before = scenario !== null ? `Start ${scenario} here, then send it` : reset && "Reset, then send it";
  return (
    <div>
      {before ? (
        <LossButton title={`${before}?`} action="Send it" run={send}>
          {before}
        </LossButton>
      ) : (
        <ActionButton run={send}>Send it now</ActionButton>
      )}
      <output>{sent.value === undefined ? null : <SentResponse sent={sent.value} />}</output>
    </div>
  );
}
