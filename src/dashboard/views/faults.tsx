import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Effect, ShownFault } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Button, Read } from "../elements/action.js";
import { Field, Form, type Option, Submit, textIn } from "../elements/form.js";
import { capitalized, counted, DocsLink, instantText, Panel, shortened } from "../elements/words.js";
import { linkTo } from "../route.js";
import { useName } from "./scenario.js";

type Faults = readonly ShownFault[];

/** Those that this page added, as texts: any other one may be the scenario's. */
const added = new Set<string>();

const textOf = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

/** What was active before the last fault was turned off. */
const turnedOff = new Shared<Faults>([]);

/** Replaces the active faults with the result of a function. Another page may have changed them in between. */
async function replaceFaults(next: (active: Faults) => Faults): Promise<void> {
  const active = await call<Faults>("/faults");
  const faults = next(active);
  await call("/faults", { method: "PUT", body: { faults } });
  turnedOff.value = faults.length === 0 ? active : [];
}

/** Faults change responses, so every view shows them and turns them off, or on again. */
export function ActiveFaults() {
  const name = useName();
  // Another scenario has other keys.
  useEffect(() => {
    turnedOff.value = [];
  }, [name]);
  const off = useShared(turnedOff);
  const active = useData("/faults").data ?? [];
  const isOn = active.length > 0;
  if (!isOn && off.length === 0) return null;
  const ask = {
    title: `Turn off ${counted(active.length, "fault")}?`,
    text: "The scenario may have them. Undo turns them on again.",
    action: "Turn them off",
  };
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>
        {isOn ? `${counted(active.length, "fault")} active` : "Faults are off"}
      </a>
      <Button
        class="quiet small"
        ask={active.every((fault) => added.has(textOf(fault))) ? undefined : ask}
        run={() => replaceFaults(() => (isOn ? [] : off))}
      >
        {isOn ? "Turn off" : "Undo"}
      </Button>
    </span>
  );
}

const turnOff = (fault: ShownFault) =>
  replaceFaults((active) => {
    const index = active.findIndex((other) => textOf(other) === textOf(fault));
    return active.filter((_, at) => at !== index);
  });

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
                    <FaultRow key={index} fault={fault} effects={effects} />
                  ))}
                </ul>
              )}
            </Read>
            <NewFault effects={effects} />
          </>
        )}
      </Read>
      <p class="muted">
        A scenario can have more: at times, at random, for an organization or an outcome.{" "}
        <DocsLink to="scenarios.md#faults">How to write them</DocsLink>
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
      <Button class="quiet small" run={() => turnOff(fault)}>
        Turn off<span class="visually-hidden"> the fault: {words}</span>
      </Button>
    </li>
  );
}

const every: readonly Option[] = [
  ["", "every request"],
  ...[2, 3, 4, 5, 10].map((nth) => [`${nth}`, `every ${ordinal(nth)} request`] as const),
];

/** `second`, `3rd`, `21st`. */
function ordinal(nth: number): string {
  const ends: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };
  const end = ends[new Intl.PluralRules("en", { type: "ordinal" }).select(nth)] ?? "th";
  return nth === 2 ? "second" : `${nth}${end}`;
}

function NewFault({ effects }: Readonly<{ effects: Effects }>) {
  const refs = useData("/keys?limit=1000").data?.map(({ ref }) => ref) ?? [];
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
        <Field name="key" label="For key" of={[["", "every key"], ...refs]} />
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
  const { key, organization, outcome: path, every: nth = 1, requests, probability, after, until } = when;
  return [
    probability !== undefined && `with a probability of ${Math.round(probability * 1000) / 10}%,`,
    requests === undefined
      ? `every ${nth > 1 ? `${ordinal(nth)} ` : ""}request`
      : `request ${shortened(requests.join(", "), 60)}`,
    key !== undefined && `with the key ${key}`,
    organization !== undefined && `from ${organization}`,
    path !== undefined && `that would result in ${path}`,
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
