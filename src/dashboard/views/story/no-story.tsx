import { call } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { health, scenarios } from "../../control/resources.js";
import { CopyButton } from "../../elements/copy-button.js";
import { LossButton } from "../../elements/forms/loss.js";
import { firstSentence } from "../../elements/words.js";

const example = `story:
  - say: A bank calls the API for the first time.
  - request: { key: active }
    expect: { status: 200 }
  - revoke: { key: active }
  - request: { key: active }
    expect: { status: 401, path: 401.revoked }
`;

/** Instructions for a scenario without a story: write one, or start a bundled story. */
export function NoStory() {
  useResources(scenarios, health);
  return (
    <>
      <h1>Story</h1>
      <p>
        The scenario <bdi>{health.data.value?.scenario}</bdi> has no story. A story describes events, sends
        requests and checks their responses. You play it here; <code>svc-sandbox verify</code> runs it as a
        test.
      </p>
      <section class="panel">
        <h2>Write one</h2>
        <p>Add to the end of the scenario file:</p>
        <pre class="story-example">{example}</pre>
        <CopyButton text={example} />
      </section>
      <section class="panel">
        <h2>Or play a bundled story</h2>
        <p class="muted">This starts another scenario and discards the current state.</p>
        <ul class="story-scenarios">
          {(scenarios.data.value ?? []).map(({ name, title, description }) => (
            <li key={name}>
              <LossButton
                class="quiet"
                title={`Start ${name}?`}
                action="Start it"
                run={() => call("/scenario", { method: "PUT", body: { name } })}
              >
                {title}
              </LossButton>
              <span>{firstSentence(description)}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
