import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ShownReport } from "../control/responses.js";
import { route } from "../control/route.js";
import { Button, lossOfState, RejectionText, ShowData, useActions, useOffline } from "../elements/action.js";
import { Options } from "../elements/form.js";
import { DocsLink, Panel } from "../elements/words.js";
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
        <ClockPanel />
        <FaultPanel />
        <ProfilePanel />
        <ScenarioPanel />
      </div>
    </>
  );
}

/** The profile of the assumptions about open details of the specification. */
function ProfilePanel() {
  return (
    <Panel title="Profile" name="profile" note="What the sandbox does where the specification is silent.">
      <ShowData path="/report?story=true">{(report) => <ProfileChoice report={report} />}</ShowData>
    </Panel>
  );
}

function ProfileChoice({ report }: Readonly<{ report: ShownReport }>) {
  const { profile, pinned } = report;
  const { enqueue, problem } = useActions();
  const profiles = useData("/profiles").data?.profiles ?? {};
  const options = Object.entries(profiles).map(
    ([name, description]) => [name, `${name}: ${description}`] as const,
  );

  const choose = ({ currentTarget }: Readonly<{ currentTarget: HTMLSelectElement }>) => {
    const body = { profile: currentTarget.value };
    enqueue(() => call("/assumptions", { method: "PUT", body }));
  };
  return (
    <>
      <select aria-label="Profile" value={profile} disabled={useOffline()} onChange={choose}>
        <Options options={options} />
      </select>
      <p>
        {pinned.length > 0 && `Set apart from the profile: ${pinned.join(", ")}. `}
        <DocsLink to="specification#assumptions">All assumptions</DocsLink>
      </p>
      <RejectionText problem={problem} />
    </>
  );
}
