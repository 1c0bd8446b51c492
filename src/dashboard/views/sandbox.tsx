import { useEffect } from "preact/hooks";
import { ControlError, call } from "../control/call.js";
import { now, useData } from "../control/data.js";
import type { ShownReport } from "../control/responses.js";
import { linkToKey, route } from "../control/route.js";
import { useShared } from "../control/shared.js";
import { Button, lossOfState, RejectionText, ShowData, useActions } from "../elements/action.js";
import { Field, Form, Submit, textIn, timeForms } from "../elements/form.js";
import { DocsLink, InstantText, Panel, Until } from "../elements/words.js";
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
        <Panel title="Profile" name="profile" note="What the sandbox does where the specification is silent.">
          <ShowData path="/report?story=true">{(report) => <ProfileInEffect report={report} />}</ShowData>
        </Panel>
        <ScenarioPanel />
      </div>
    </>
  );
}

/** The profile of the assumptions about open details of the specification. */
function ProfileInEffect({ report }: Readonly<{ report: ShownReport }>) {
  const { profile, pinned } = report;
  const words = useData("/profiles").data?.profiles[profile];
  return (
    <>
      <p>
        <strong>{profile}</strong>: {words}
      </p>
      <p>
        {pinned.length > 0 && `Set apart from the profile: ${pinned.join(", ")}. `}
        <DocsLink to="specification#assumptions">All assumptions</DocsLink>
      </p>
    </>
  );
}

const setClock = (body: object) => call("/clock", { method: "PUT", body });

const advance = (by: string) => call("/clock/advance", { method: "POST", body: { by } });

/** The durations by which a button advances the clock, by its label. */
const leaps = { "+1 min": "1m", "+10 min": "10m", "+1 h": "1h", "+1 d": "1d" };

const maxEvents = 5;

/** The clock, and what it will change. */
function ClockPanel() {
  const upcoming = useData("/upcoming");
  const frozen = useData("/clock").data?.frozen;
  const { enqueue, problem } = useActions();
  const time = useShared(now);

  // One queue for all buttons. The words of an event tell buttons with one label apart.
  const button = (words: string, run: () => Promise<unknown>, event = "") => (
    <Button class="quiet small" run={() => enqueue(run)}>
      {words}
      <span class="visually-hidden"> {event}</span>
    </Button>
  );
  const leapButtons = Object.entries(leaps).map(([words, by]) => button(words, () => advance(by)));

  // After a jump, the list contains past events until it is read again. While the time is unknown, none is past.
  const events = upcoming.data?.filter(({ at }) => !(Date.parse(at) <= time)) ?? [];
  const rows = events.slice(0, maxEvents).map(({ at, kind, key, text }) => (
    <li key={`${at} ${kind} ${key} ${text}`} class="bar nowrap">
      <div class="wide">
        <p>{key === null ? text : <a href={linkToKey(key)}>{text}</a>}</p>
        <p class="muted small">
          <Until at={at} />, <InstantText at={at} />
        </p>
      </div>
      {button("Go there", () => setClock({ now: at }), text)}
    </li>
  ));
  return (
    <Panel title="Clock" name="clock" actions={<span class="badge">{frozen ? "frozen" : "running"}</span>}>
      <p class="figure">
        <strong>
          <InstantText at={time} />
        </strong>
      </p>
      <div class="bar">
        {leapButtons}
        {button(frozen ? "Resume" : "Freeze", () => setClock({ frozen: !frozen }))}
      </div>
      <RejectionText problem={problem ?? upcoming.problem} />
      <Form class="bar align-end" send={move}>
        <Field name="to" label="Move by or to" required placeholder="90s, 2h or a time" />
        <Submit class="quiet">Move</Submit>
      </Form>
      <h3>Next events</h3>
      <ul class="list">{rows}</ul>
    </Panel>
  );
}

/** Moves the clock by a duration or to a time. */
async function move(entered: FormData, form: HTMLFormElement): Promise<void> {
  const text = textIn(entered, "to") ?? "";
  const isTime = /^\d{4}-/.test(text);
  try {
    if (isTime) await setClock({ now: text });
    else await advance(text);
  } catch (error) {
    const { code, message, fields } = error as ControlError;
    // The sandbox knows only the form that it was sent.
    const problem = fields.by ? timeForms : (fields.now ?? message);
    throw new ControlError(code, message, { to: problem });
  }
  form.reset();
}
