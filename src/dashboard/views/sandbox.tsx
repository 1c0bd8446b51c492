import { useEffect } from "preact/hooks";
import { ControlError, call } from "../control/call.js";
import { now, useData } from "../control/data.js";
import type { ControlData, ShownFault, ShownReport } from "../control/responses.js";
import { linkTo, linkToKey, route } from "../control/route.js";
import { useShared } from "../control/shared.js";
import { Button, lossOfState, RejectionText, ShowData, useActions } from "../elements/action.js";
import { Field, Form, type Option, RefField, Submit, textIn, timeForms } from "../elements/form.js";
import {
  capitalized,
  counted,
  DocsLink,
  InstantText,
  instantText,
  Panel,
  shortened,
  Until,
} from "../elements/words.js";
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

type Effects = ControlData["/request-checks"]["effects"];

function FaultPanel() {
  return (
    <Panel
      title="Faults"
      name="faults"
      note="A fault hits a request before its checks. The first one that matches counts."
    >
      <ShowData path="/request-checks">
        {({ effects }) => (
          <>
            <ShowData path="/faults">{(active) => <FaultList faults={active} effects={effects} />}</ShowData>
            <NewFault effects={effects} />
          </>
        )}
      </ShowData>
      <p class="muted">
        A scenario can have <DocsLink to="scenarios#faults">others</DocsLink>.
      </p>
    </Panel>
  );
}

function FaultList({ faults, effects }: Readonly<{ faults: readonly ShownFault[]; effects: Effects }>) {
  // Equal faults have the same text.
  const rows = faults.map((fault, index) => <FaultRow key={index} fault={fault} effects={effects} />);
  return (
    <ul class="list">
      {rows.length === 0 && <li>No faults.</li>}
      {rows}
    </ul>
  );
}

function FaultRow({ fault, effects }: Readonly<{ fault: ShownFault; effects: Effects }>) {
  const words = `${capitalized(conditionWords(fault.when))}: ${effectWords(fault.then, effects)}`;
  const matched = fault.requests_matched;
  const turnOff = async () => {
    const active = await readFaults();
    // Of equal ones, the first.
    const place = active.findIndex((other) => faultText(other) === faultText(fault));
    await replaceFaults(active.filter((_, index) => index !== place));
  };
  return (
    <li class="bar nowrap">
      <p class="wide">
        <bdi>{words}.</bdi>{" "}
        <span class="muted">{matched !== undefined && `${counted(matched, "request")} matched.`}</span>
      </p>
      <Button class="quiet small" run={turnOff}>
        Turn off<span class="visually-hidden"> the fault: {words}</span>
      </Button>
    </li>
  );
}

/** The choices for every nth request. */
const everyNth = [2, 3, 4, 5, 10].map((nth): Option => [`${nth}`, `every ${ordinal(nth)} request`]);

/** A form with the condition of a new fault, and a button for each effect. */
function NewFault({ effects }: Readonly<{ effects: Effects }>) {
  const add = async (entered: FormData) => {
    const key = textIn(entered, "key");
    const nth = textIn(entered, "nth");
    const when = { ...(key && { key }), ...(nth && { every: Number(nth) }) };
    const hasCondition = key !== undefined || nth !== undefined;

    // The button that was pressed has the name of its effect.
    const pressed = textIn(entered, "effect");
    const then = effects.find(({ effect }) => effect === pressed)?.example ?? {};

    const active = await readFaults();
    await replaceFaults([...active, { ...(hasCondition && { when }), then }]);
  };

  const buttons = effects.map(({ effect, example }) => (
    <Submit key={effect} class="quiet" name="effect" value={effect}>
      {capitalized(effectWords(example, effects))}
    </Submit>
  ));
  return (
    <Form class="stack" send={add}>
      <h3>Add a fault</h3>
      <div class="form-fields">
        <RefField name="key" label="For key" placeholder="every key" />
        <Field name="nth" label="For requests" options={[["", "every request"], ...everyNth]} />
      </div>
      {/* Enter in a field presses the first button, and must choose no effect. */}
      <button type="submit" disabled hidden />
      <div class="bar">{buttons}</div>
    </Form>
  );
}

/** The requests that match a fault: `every 3rd request with the key flaky`. */
function conditionWords(when: ShownFault["when"] = {}): string {
  const { probability, every = 1, requests, key, organization, outcome, after, until } = when;
  const words = [];
  if (probability !== undefined) words.push(`with a probability of ${Math.round(probability * 1000) / 10}%,`);

  if (requests !== undefined) words.push(`request ${shortened(requests.join(", "), 60)}`);
  else if (every > 1) words.push(`every ${ordinal(every)} request`);
  else words.push("every request");

  if (key !== undefined) words.push(`with the key ${key}`);
  if (organization !== undefined) words.push(`from ${organization}`);
  if (outcome !== undefined) words.push(`that would result in ${outcome}`);
  if (after !== undefined) words.push(`after ${instantText(after)}`);
  if (until !== undefined) words.push(`until ${instantText(until)}`);
  return words.join(" ");
}

/** `2nd`, `3rd`, `21st`. */
function ordinal(nth: number): string {
  // All from the 11th to the 19th end in `th`.
  const last = /1\d$/.test(`${nth}`) ? 0 : nth % 10;
  const ending = ["th", "st", "nd", "rd"][last];
  return `${nth}${ending ?? "th"}`;
}

/** The effects of a fault: `2s late, status 503`. */
function effectWords(then: ShownFault["then"], effects: Effects): string {
  const words: string[] = [];
  for (const [name, value] of Object.entries(then)) {
    const label = effects.find(({ effect }) => effect === name)?.label ?? `${name} {}`;
    words.push(label.replace("{}", valueWords(value)));
  }
  return words.join(", ");
}

/** The value of an effect: `503`, `100ms to 2s`, `about 200ms, rarely 2s`. */
function valueWords(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { median, p99 } = value as { readonly median?: string; readonly p99?: string };
  if (median !== undefined) return `about ${median}, rarely ${p99}`;
  // A range has a start and an end, a wait only its date.
  return Object.values(value).join(" to ");
}

const readFaults = () => call<readonly ShownFault[]>("/faults");

const replaceFaults = (faults: readonly ShownFault[]) => call("/faults", { method: "PUT", body: { faults } });

/** What a fault matches and does, as a text. The number of requests that it has matched is not part of it. */
const faultText = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

/** Faults change responses, so every view shows them, and turns them off. */
export function ActiveFaults() {
  const active = useData("/faults").data ?? [];
  if (active.length === 0) return null;
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>{counted(active.length, "fault")} active</a>
      <Button class="quiet small" run={() => replaceFaults([])}>
        Turn off
      </Button>
    </span>
  );
}
