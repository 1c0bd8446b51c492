import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Effect, ShownFault } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, Read } from "../elements/action.js";
import { Field, Form, type Option, RefField, Submit, textIn } from "../elements/form.js";
import { capitalized, counted, instantText, percentText, shortened } from "../elements/text.js";
import { DocsLink, Panel } from "../elements/words.js";
import { linkTo } from "../route.js";
import { useScenarioName } from "./scenario.js";

type Faults = readonly ShownFault[];
type Effects = readonly Effect[];
type Change = (faults: Faults) => Faults;

/** The choices for every nth request. */
const everyNth = [2, 3, 4, 5, 10].map((nth): Option => [`${nth}`, `every ${ordinal(nth)} request`]);

/** The texts of the faults that this page added: any other one may be the scenario's. */
const added = new Set<string>();

/** What this page remembers once it has changed the faults, so that it can turn on again what it has turned off. */
interface Undo {
  /** What an undo makes active: what was active at first, with what was added later. */
  readonly afterUndo: Faults;
  /** What the last change of this page left active. If anything else is, somebody else has changed it since. */
  readonly leftActive: Faults;
}

const nothingToUndo: Undo = { afterUndo: [], leftActive: [] };
const undo = new Shared(nothingToUndo);

/** What a fault matches and does, as a text. The number of requests that it has matched is not part of it. */
const faultText = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

const isSame = (faults: Faults, others: Faults) =>
  faults.map(faultText).join() === others.map(faultText).join();

/** Changes the active faults, and what an undo makes active. */
async function changeFaults(changeActive: Change, changeAfterUndo: Change): Promise<void> {
  const active = await call<Faults>("/faults");
  const leftActive = changeActive(active);
  await call("/faults", { method: "PUT", body: { faults: leftActive } });

  // After a change by somebody else, an undo returns to that.
  const last = undo.value;
  const afterUndo = isSame(last.leftActive, active) ? last.afterUndo : active;
  undo.value = { afterUndo: changeAfterUndo(afterUndo), leftActive };
}

/** Faults change responses, so every view shows them and turns them off, or on again. */
export function ActiveFaults() {
  const name = useScenarioName();
  // Another scenario has other keys, and its own faults.
  useEffect(() => {
    undo.value = nothingToUndo;
    added.clear();
  }, [name]);
  const { afterUndo, leftActive } = useShared(undo);
  const active = useData("/faults").data ?? [];

  const isOn = active.length > 0;
  const hasUndo = isSame(leftActive, active) && afterUndo.length > leftActive.length;
  if (!isOn && !hasUndo) return null;

  const turnOnAgain = () => afterUndo;
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>
        {isOn ? `${counted(active.length, "fault")} active` : "Faults are off"}
      </a>
      {isOn && <TurnOff faults={active} />}
      {hasUndo && (
        <Button class="quiet small" run={() => changeFaults(turnOnAgain, turnOnAgain)}>
          Undo
        </Button>
      )}
    </span>
  );
}

/** A button that turns faults off. It asks first, unless this page added them. */
function TurnOff({ faults, children }: Readonly<{ faults: Faults; children?: ComponentChildren }>) {
  const texts = faults.map(faultText);
  const isOwn = texts.every((text) => added.has(text));
  const question = {
    title: `Turn off ${counted(texts.length, "fault")}?`,
    text: "The scenario may require this. Undo reverts it.",
    action: "Turn off",
  };

  const turnOff = (active: Faults) => active.filter((fault) => !texts.includes(faultText(fault)));
  const keep = (afterUndo: Faults) => afterUndo;
  return (
    <Button class="quiet small" ask={isOwn ? undefined : question} run={() => changeFaults(turnOff, keep)}>
      Turn off{children}
    </Button>
  );
}

export function FaultPanel() {
  return (
    <Panel
      title="Faults"
      name="faults"
      note="A fault hits a request before its checks. The first one that matches counts."
    >
      <Read path="/request-checks">
        {({ effects }) => (
          <>
            <Read path="/faults">{(active) => <FaultList faults={active} effects={effects} />}</Read>
            <NewFault effects={effects} />
          </>
        )}
      </Read>
      <p class="muted">
        A scenario can have others. <DocsLink to="scenarios#faults">How to write them</DocsLink>
      </p>
    </Panel>
  );
}

function FaultList({ faults, effects }: Readonly<{ faults: Faults; effects: Effects }>) {
  const rows = faults.map((fault, index) => (
    <FaultRow key={`${index} ${faultText(fault)}`} fault={fault} effects={effects} />
  ));
  return <ul class="list">{rows.length === 0 ? <li>No faults.</li> : rows}</ul>;
}

function FaultRow({ fault, effects }: Readonly<{ fault: ShownFault; effects: Effects }>) {
  const words = `${capitalized(conditionWords(fault.when))}: ${effectWords(fault.then, effects)}`;
  const matched = fault.requests_matched;
  return (
    <li class="bar nowrap">
      <p class="wide">
        <bdi>{words}.</bdi>{" "}
        <span class="muted">{matched !== undefined && `${counted(matched, "request")} matched.`}</span>
      </p>
      <TurnOff faults={[fault]}>
        <span class="visually-hidden"> the fault: {words}</span>
      </TurnOff>
    </li>
  );
}

/** A form with the condition of a new fault, and a button for each effect. */
function NewFault({ effects }: Readonly<{ effects: Effects }>) {
  const add = (entered: FormData) => {
    const key = textIn(entered, "key");
    const nth = textIn(entered, "nth");
    const when = { ...(key && { key }), ...(nth && { every: Number(nth) }) };

    // The button that was pressed has the name of its effect.
    const pressed = textIn(entered, "effect");
    const then = effects.find(({ effect }) => effect === pressed)?.example ?? {};

    const fault = key || nth ? { when, then } : { then };
    added.add(faultText(fault));
    const addFault = (faults: Faults) => [...faults, fault];
    return changeFaults(addFault, addFault);
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
      <div class="bar">{buttons}</div>
    </Form>
  );
}

/** The requests that match a fault: `every 3rd request with the key flaky`. */
function conditionWords(when: ShownFault["when"] = {}): string {
  const { probability, every = 1, requests, key, organization, outcome, after, until } = when;
  const words = [];
  if (probability !== undefined) words.push(`with a probability of ${percentText(probability)},`);

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
  const words = Object.entries(then).map(([name, value]) => {
    const label = effects.find(({ effect }) => effect === name)?.label ?? `${name} {}`;
    // A range has a start and an end.
    const valueText = typeof value === "object" ? Object.values(value).join(" to ") : value;
    return label.replace("{}", String(valueText));
  });
  return words.join(", ");
}
