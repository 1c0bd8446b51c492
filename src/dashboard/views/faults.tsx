import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ControlData, ShownFault } from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { Button, ShowData } from "../elements/action.js";
import { Field, Form, type Option, RefField, Submit, textIn } from "../elements/form.js";
import { capitalized, counted, DocsLink, instantText, Panel, shortened } from "../elements/words.js";

type Effects = ControlData["/request-checks"]["effects"];

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
  return (
    <li class="bar nowrap">
      <p class="wide">
        <bdi>{words}.</bdi>{" "}
        <span class="muted">{matched !== undefined && `${counted(matched, "request")} matched.`}</span>
      </p>
      <Button class="quiet small" run={() => turnOff(fault)}>
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

type Faults = readonly ShownFault[];

const readFaults = () => call<Faults>("/faults");

const replaceFaults = (faults: Faults) => call("/faults", { method: "PUT", body: { faults } });

/** What a fault matches and does, as a text. The number of requests that it has matched is not part of it. */
const faultText = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

/** Turns off a fault as it is now: of equal ones, the first. */
async function turnOff(fault: ShownFault): Promise<void> {
  const active = await readFaults();
  const place = active.findIndex((other) => faultText(other) === faultText(fault));
  await replaceFaults(active.filter((_, index) => index !== place));
}

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
