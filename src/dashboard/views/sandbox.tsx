import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import type { ShownProfile } from "../control/responses.js";
import { Button, lossOfState, Read, RejectionText, useActions } from "../elements/action.js";
import { DocsLink, Panel } from "../elements/words.js";
import { route } from "../route.js";
import { ClockPanel } from "./clock.js";
import { FaultPanel } from "./faults.js";
import { ScenarioPanel } from "./scenario.js";

/** What is set in the sandbox. The address may name a section: `#/sandbox/faults`. */
export function SandboxView() {
  const section = route.value.parts[0];
  useEffect(() => {
    if (section !== undefined) document.getElementById(`section-${section}`)?.scrollIntoView();
  }, [section]);
  return (
    <>
      <header class="bar apart">
        <h1>Sandbox</h1>
        <Button
          class="danger"
          ask={{
            title: "Reset the sandbox?",
            text: `The scenario starts again. ${lossOfState}`,
            action: "Reset it",
          }}
          run={() => call("/reset", { method: "POST" })}
        >
          Reset…
        </Button>
      </header>
      <div class="sections">
        <div class="stack gap">
          <ClockPanel />
          <ProfilePanel />
        </div>
        <FaultPanel />
        <ScenarioPanel />
      </div>
    </>
  );
}

const profiles: Readonly<Record<ShownProfile, string>> = {
  minimal: "only what the specification promises",
  typical: "what good gateways do",
  varied: "like minimal, but with open details by the seed",
};

/** The profile of the assumptions about open details of the specification. */
function ProfilePanel() {
  const { add, problem } = useActions();
  const choose = (profile: string) => add(() => call("/assumptions", { method: "PUT", body: { profile } }));
  return (
    <Panel title="Profile" name="profile" note="What the sandbox does where the specification is silent.">
      <Read path="/report?story=true">
        {({ profile, pinned }) => (
          <>
            <fieldset class="stack" aria-label="Profile">
              {Object.entries(profiles).map(([name, words]) => (
                <label key={name} class="choice">
                  <input
                    type="radio"
                    name="profile"
                    checked={name === profile}
                    onChange={() => choose(name)}
                  />
                  <span>
                    <strong>{name}</strong> <span class="muted">{words}</span>
                  </span>
                </label>
              ))}
            </fieldset>
            <p>
              {pinned.length === 0 ? null : `Set apart from the profile: ${pinned.join(", ")}. `}
              <DocsLink to="specification.md#assumptions">All assumptions</DocsLink>
            </p>
          </>
        )}
      </Read>
      <RejectionText problem={problem} />
    </Panel>
  );
}
