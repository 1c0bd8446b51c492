import { useSignal } from "@preact/signals";
import { call, claimed, isPanelOpen, keepClaimed, linkProblem } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { curlLine, report } from "../../control/resources.js";
import type { ClaimedInstance, Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { ActionButton } from "../../elements/forms/action.js";
import { saveFile } from "../../elements/save-file.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";

/** The base URL, keys and token of an instance as the variables of `--write-env`. */
export function variablesOf({
  base_url: url,
  control_url: controlUrl,
  keys,
  token,
}: ClaimedInstance): string {
  const lines = Object.entries(keys).map(
    ([ref, secret]) => `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}=${secret}\n`,
  );
  return `SVC_BASE_URL=${url}\n${lines.join("")}SVC_CONTROL_URL=${controlUrl}\nSVC_SANDBOX_CONTROL_TOKEN=${token}\n`;
}

/** The instance of the one-time link that opened this page, until it is closed. */
export function Claimed() {
  if (claimed.value !== undefined && isPanelOpen()) return <Access instance={claimed.value} />;
  return linkProblem.value === undefined ? null : <p class="notice warning">{linkProblem}</p>;
}

function Access({ instance }: { readonly instance: ClaimedInstance }) {
  useResources(report);
  const sent = useSignal<Shown<"Sent"> | undefined>(undefined);
  const { id, label, keys, base_url: url } = instance;
  const [[key, secret] = []] = Object.entries(keys);
  const lines = variablesOf(instance);
  const curl = secret && curlLine(url, secret);
  const send = async () => {
    sent.value = await call<Shown<"Sent">>("/send", { method: "POST", body: { key } });
  };
  const close = (
    <button type="button" class="quiet" onClick={() => keepClaimed({ ...instance, isClosed: true })}>
      Close
    </button>
  );
  return (
    <section class="panel stack" aria-labelledby="claimed-title">
      <h2 id="claimed-title">
        <bdi>{label ?? `Instance ${id}`}</bdi> is yours
      </h2>
      <p>
        The base URL is <code>{url}</code>. Save the keys and the token: this tab keeps them, and the link
        works only once.
      </p>
      {curl ? (
        <div class="bar">
          <pre class="wide">{curl}</pre>
          <CopyButton text={curl}>Copy as curl</CopyButton>
        </div>
      ) : null}
      <div class="bar">
        {key === undefined ? null : <ActionButton run={send}>Send a first request</ActionButton>}
        <Variables of={instance} />
        {close}
      </div>
      <details>
        <summary>Show all {lines.trimEnd().split("\n").length} variables</summary>
        <div class="bar">
          <pre class="wide">{lines}</pre>
          <CopyButton text={lines}>Copy .env</CopyButton>
        </div>
      </details>
      <output>{sent.value === undefined ? null : <SentResponse sent={sent.value} />}</output>
    </section>
  );
}

function Variables({ of }: { readonly of: ClaimedInstance }) {
  const save = () => saveFile(new Blob([variablesOf(of)]), of.label ?? of.id, "env");
  return (
    <button type="button" class="quiet" onClick={save}>
      Download .env
    </button>
  );
}
