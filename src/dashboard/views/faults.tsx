import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Effect, ShownFault } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, Read } from "../elements/action.js";
import { Field, Form, type Option, RefField, Submit, textIn } from "../elements/form.js";
import { capitalized, counted, DocsLink, instantText, Panel, shortened } from "../elements/words.js";
import { linkTo } from "../route.js";
import { useName } from "./scenario.js";

type Faults = readonly ShownFault[];

/** Those that this page added, as texts: any other one may be the scenario's. */
const added = new Set<string>();

const textOf = (...faults: Faults) => JSON.stringify(faults.map(({ when, then }) => [when, then]));

/** What was active before this page turned faults off, and what is since. */
const turnedOff = new Shared<readonly [before: Faults, since: Faults]>([[], []]);

/** Replaces the active faults, and what an undo turns on. Another page may have changed them in between. */
async function replaceFaults(next: (active: Faults) => Faults, nextBefore = next): Promise<void> {
  const active = await call<Faults>("/faults");
  const faults = next(active);
  await call("/faults", { method: "PUT", body: { faults } });
  const [before, since] = turnedOff.value;
  turnedOff.value = [nextBefore(textOf(...since) === textOf(...active) ? before : active), faults];
}

/** Faults change responses, so every view shows them and turns them off, or on again. */
export function ActiveFaults() {
  const name = useName();
  // Another scenario has other keys.
  useEffect(() => {
    turnedOff.value = [[], []];
  }, [name]);
  const [before, since] = useShared(turnedOff);
  const active = useData("/faults").data ?? [];
  const isOn = active.length > 0;
  const hasUndo = before.length > since.length && textOf(...since) === textOf(...active);
  if (!isOn && !hasUndo) return null;
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>
        {isOn ? `${counted(active.length, "fault")} active` : "Faults are off"}
      </a>
      {isOn && <TurnOff faults={active} />}
      {hasUndo && (
        <Button class="quiet small" run={() => replaceFaults(() => before)}>
          Undo
        </Button>
      )}
    </span>
  );
}

/** Turns faults off. It asks first, unless this page added them. */
function TurnOff({ faults, children }: Readonly<{ faults: Faults; children?: ComponentChildren }>) {
  const texts = faults.map((fault) => textOf(fault));
  const ask = {
    title: `Turn off ${counted(texts.length, "fault")}?`,
    text: "The scenario may require this. Undo reverts it.",
    action: "Turn off",
  };
  const turnOff = () =>
    replaceFaults(
      (active) => active.filter((fault) => !texts.includes(textOf(fault))),
      (before) => before,
    );
  return (
    <Button class="quiet small" ask={texts.every((text) => added.has(text)) ? undefined : ask} run={turnOff}>
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
            <Read path="/faults">
              {(active) => (
                <ul class="list">
                  {active.length === 0 && <li>No faults.</li>}
                  {active.map((fault, index) => (
                    <FaultRow key={`${index} ${textOf(fault)}`} fault={fault} effects={effects} />
                  ))}
                </ul>
              )}
            </Read>
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

type Effects = readonly Effect[];

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

const every: readonly Option[] = [
  ["", "every request"],
  ...[2, 3, 4, 5, 10].map((nth) => [`${nth}`, `every ${ordinal(nth)} request`] as const),
];

/** `2nd`, `3rd`, `21st`. */
function ordinal(nth: number): string {
  const last = /1\d$/.test(`${nth}`) ? 0 : nth % 10;
  return `${nth}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

function NewFault({ effects }: Readonly<{ effects: Effects }>) {
  const add = (entered: FormData) => {
    const [key, nth, chosen] = ["key", "nth", "effect"].map((name) => textIn(entered, name));
    const when = { ...(key && { key }), ...(nth && { every: Number(nth) }) };
    const condition = Object.keys(when).length > 0 && { when };
    const then = effects.find(({ effect }) => effect === chosen)?.example ?? {};
    const fault = { ...condition, then };
    added.add(textOf(fault));
    return replaceFaults((active) => [...active, fault]);
  };
  return (
    <Form class="stack" send={add}>
      <h3>Add a fault</h3>
      <div class="form-fields">
        <RefField name="key" label="For key" placeholder="every key" />
        <Field name="nth" label="For requests" of={every} />
      </div>
      <div class="bar">
        {effects.map(({ effect, example }) => (
          <Submit key={effect} class="quiet" name="effect" value={effect}>
            {capitalized(effectWords(example, effects))}
          </Submit>
        ))}
      </div>
    </Form>
  );
}

/** The requests that match a fault: `every 3rd request with the key flaky`. */
function conditionWords(when: ShownFault["when"] = {}): string {
  const { key, organization, outcome, every: nth = 1, requests, probability, after, until } = when;
  return [
    probability !== undefined && `with a probability of ${Math.round(probability * 1000) / 10}%,`,
    requests === undefined
      ? `every ${nth > 1 ? `${ordinal(nth)} ` : ""}request`
      : `request ${shortened(requests.join(", "), 60)}`,
    key !== undefined && `with the key ${key}`,
    organization !== undefined && `from ${organization}`,
    outcome !== undefined && `that would result in ${outcome}`,
    after !== undefined && `after ${instantText(after)}`,
    until !== undefined && `until ${instantText(until)}`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** The effects of a fault: `2s late, status 503`. */
function effectWords(then: ShownFault["then"], effects: Effects): string {
  const words = Object.entries(then).map(([name, value]) => {
    const shown = typeof value === "object" ? Object.values(value).join(" to ") : value;
    const label = effects.find(({ effect }) => effect === name)?.label ?? `${name} {}`;
    return label.replace("{}", String(shown));
  });
  return words.join(", ");
}
