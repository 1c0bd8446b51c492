import { useSignal } from "@preact/signals";
import { baseUrl, call } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { CopyCurl } from "../../elements/copy-button.js";
import { ActionButton } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo } from "../../route.js";

type HowToCover = NonNullable<Shown<"Report">["paths"][number]["how_to_cover"]>;

interface SendNowProps {
  readonly how: HowToCover;
  readonly pathId: string;
  /** Whether the page has a more important button. */
  readonly isQuiet?: boolean;
}

/** Buttons that cover a path: its request from this page, which does not count as a client's, or as a line for a shell. */
export function SendNow({ how, pathId, isQuiet = false }: SendNowProps) {
  const { ref, request, scenario, reset, scopes, curl } = how;
  // Stays when the report has another request, because this one has covered its path.
  const sent = useSignal<{ readonly pathId: string; readonly of: Shown<"Sent"> } | undefined>(undefined);
  const send = async () => {
    sent.value = undefined;
    if (reset) await call("/reset", { method: "POST" });
    const body = { key: ref, ...request, body: request.body ?? undefined };
    sent.value = { pathId, of: await call<Shown<"Sent">>("/send", { method: "POST", body }) };
  };
  // The scenario must change first.
  if (scopes !== undefined) return null;
  if (scenario !== null) return <OtherScenario name={scenario} />;
  return (
    <>
      <div class="bar">
        {reset ? (
          <AskButton
            class="quiet"
            question={{ title: "Reset, then send it?", action: "Send it", run: send, loses: "state" }}
          >
            Reset, then send it
          </AskButton>
        ) : (
          <ActionButton class={isQuiet ? "quiet" : ""} run={send}>
            Send it now
          </ActionButton>
        )}
        {/* Without the reset, it would not cover the path. */}
        {reset ? null : (
          <CopyCurl
            keyRef={ref}
            line={(secret) =>
              curl.replace(/\$SVC_KEY_\w+/, () => secret).replace("$SVC_BASE_URL", () => baseUrl)
            }
          />
        )}
      </div>
      <output class="stack">
        {sent.value === undefined ? null : (
          <>
            <strong>
              Sent for <PathBadge pathId={sent.value.pathId} />
            </strong>
            <SentResponse sent={sent.value.of} />
          </>
        )}
      </output>
    </>
  );
}

/** A way to a path that this scenario does not have. */
function OtherScenario({ name }: { readonly name: string }) {
  return (
    <p>
      This scenario has no such request; <a href={linkTo("scenario")}>{name}</a> has one.
    </p>
  );
}
