import { useSignal } from "@preact/signals";
import type { Key, Sent } from "../../control/answers.js";
import { call } from "../../control/call.js";
import { ActionButton } from "../../elements/forms/action.js";
import { toneOf } from "../../elements/traffic/path-badge.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";

/** The outcome of the next request with a key, a button that sends it, and its response. */
export function NextRequest({ of: { ref, next_request: next } }: { readonly of: Key }) {
  const sent = useSignal<Sent | undefined>(undefined);
  const send = async () => {
    sent.value = undefined;
    sent.value = await call<Sent>("/send", { method: "POST", body: { key: ref } });
  };
  return (
    <div class="next-request">
      <p>
        <span class="muted">Next request gets</span>{" "}
        <strong class={`key-verdict tone-${toneOf(next.path_id)}`}>{next.verdict}</strong>
      </p>
      <ActionButton class="quiet" run={send}>
        Send a request<span class="visually-hidden"> with {ref}</span>
      </ActionButton>
      <output>{sent.value === undefined ? null : <SentResponse sent={sent.value} />}</output>
    </div>
  );
}
