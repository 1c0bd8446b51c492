import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Effect, ShownFault } from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, ShowData } from "../elements/action.js";
import { Field, Form, type Option, RefField, Submit, textIn } from "../elements/form.js";
import { capitalized, counted, instantText, percentText, shortened } from "../elements/text.js";
import { DocsLink, Panel } from "../elements/words.js";
import { useScenarioName } from "./scenario.js";

// Each change of faults sends the whole list. So that it can be undone, the page remembers the faults that it has turned off,
// each at its place among the active ones. It remembers only what it did itself: if somebody else has changed the active
// faults since, it starts again with those.

type Faults = readonly ShownFault[];
type Effects = readonly Effect[];

/** A fault in the list of this page, at its place. */
interface Switch {
  readonly fault: ShownFault;
  /** Whether it is active. If not, this page has turned it off. */
  readonly isOn: boolean;
}

/** What a fault matches and does, as a text. The number of requests that it has matched is not part of it. */
const faultText = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

/** Identifies each fault of a list: by its text, and by how many equal ones are before it. */
function faultIds(faults: Faults): readonly string[] {
  const texts = faults.map(faultText);
  return texts.map((text, index) => {
    const equalBefore = texts.slice(0, index).filter((other) => other === text);
    return `${equalBefore.length} ${text}`;
  });
}

/** The switches after the last change by this page. */
const lastSwitches = new Shared<readonly Switch[]>([]);

/** The texts of the faults that this page added: any other one may be the scenario's. */
const addedTexts = new Set<string>();

const faultsThatAreOn = (switches: readonly Switch[]) =>
  switches.filter(({ isOn }) => isOn).map(({ fault }) => fault);

/** The switches for the faults that are active now. */
function switchesFor(active: Faults, last: readonly Switch[]): readonly Switch[] {
  const isUnchanged = `${active.map(faultText)}` === `${faultsThatAreOn(last).map(faultText)}`;
  if (!isUnchanged) return active.map((fault) => ({ fault, isOn: true }));

  // An active fault may have matched more requests since; one that is turned off is as it was.
  const activeInOrder = [...active];
  return last.map((row) => (row.isOn ? { ...row, fault: activeInOrder.shift() as ShownFault } : row));
}

async function changeFaults(change: (switches: readonly Switch[]) => readonly Switch[]): Promise<void> {
  const active = await call<Faults>("/faults");
  const changed = change(switchesFor(active, lastSwitches.value));
  await call("/faults", { method: "PUT", body: { faults: faultsThatAreOn(changed) } });
  lastSwitches.value = changed;
}

/** Turns off the active faults with these ids. */
function turnOff(ids: readonly string[]): Promise<void> {
  return changeFaults((switches) => {
    const activeIds = [...faultIds(faultsThatAreOn(switches))];
    return switches.map((row) => {
      const isChosen = row.isOn && ids.includes(activeIds.shift() as string);
      return isChosen ? { ...row, isOn: false } : row;
    });
  });
}

function addFault(fault: ShownFault): Promise<void> {
  addedTexts.add(faultText(fault));
  return changeFaults((switches) => [...switches, { fault, isOn: true }]);
}

/** Turns on again what this page has turned off. */
const undo = () => changeFaults((switches) => switches.map(({ fault }) => ({ fault, isOn: true })));

/** Faults change responses, so every view shows them and turns them off, or on again. */
export function ActiveFaults() {
  const name = useScenarioName();
  // Another scenario has other keys, and its own faults.
  useEffect(() => {
    lastSwitches.value = [];
    addedTexts.clear();
  }, [name]);
  const active = useData("/faults").data ?? [];
  const switches = switchesFor(active, useShared(lastSwitches));

  const isOn = active.length > 0;
  const hasUndo = switches.length > active.length;
  if (!isOn && !hasUndo) return null;
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>
        {isOn ? `${counted(active.length, "fault")} active` : "Faults are off"}
      </a>
      {isOn && <TurnOff faults={active} ids={faultIds(active)} />}
      {hasUndo && (
        <Button class="quiet small" run={undo}>
          Undo
        </Button>
      )}
    </span>
  );
}

interface TurnOffProps {
  readonly faults: Faults;
  /** The ids of these faults. */
  readonly ids: readonly string[];
  readonly children?: ComponentChildren;
}

/** A button that turns faults off. It asks first, unless this page added them. */
function TurnOff({ faults, ids, children }: TurnOffProps) {
  const isOwn = faults.every((fault) => addedTexts.has(faultText(fault)));
  const question = {
    title: `Turn off ${counted(faults.length, "fault")}?`,
    text: "The scenario may require this. Undo reverts it.",
    action: "Turn off",
  };
  return (
    <Button class="quiet small" ask={isOwn ? undefined : question} run={() => turnOff(ids)}>
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

function FaultList({ faults, effects }: Readonly<{ faults: Faults; effects: Effects }>) {
  const ids = faultIds(faults);
  const rows = faults.map((fault, index) => {
    const id = ids[index] as string;
    return <FaultRow key={id} id={id} fault={fault} effects={effects} />;
  });
  return <ul class="list">{rows.length === 0 ? <li>No faults.</li> : rows}</ul>;
}

interface FaultRowProps {
  readonly fault: ShownFault;
  readonly id: string;
  readonly effects: Effects;
}

function FaultRow({ fault, id, effects }: FaultRowProps) {
  const words = `${capitalized(conditionWords(fault.when))}: ${effectWords(fault.then, effects)}`;
  const matched = fault.requests_matched;
  return (
    <li class="bar nowrap">
      <p class="wide">
        <bdi>{words}.</bdi>{" "}
        <span class="muted">{matched !== undefined && `${counted(matched, "request")} matched.`}</span>
      </p>
      <TurnOff faults={[fault]} ids={[id]}>
        <span class="visually-hidden"> the fault: {words}</span>
      </TurnOff>
    </li>
  );
}

/** The choices for every nth request. */
const everyNth = [2, 3, 4, 5, 10].map((nth): Option => [`${nth}`, `every ${ordinal(nth)} request`]);

/** A form with the condition of a new fault, and a button for each effect. */
function NewFault({ effects }: Readonly<{ effects: Effects }>) {
  const add = (entered: FormData) => {
    const key = textIn(entered, "key");
    const nth = textIn(entered, "nth");
    const when = { ...(key && { key }), ...(nth && { every: Number(nth) }) };

    // The button that was pressed has the name of its effect.
    const pressed = textIn(entered, "effect");
    const then = effects.find(({ effect }) => effect === pressed)?.example ?? {};

    return addFault(key || nth ? { when, then } : { then });
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
