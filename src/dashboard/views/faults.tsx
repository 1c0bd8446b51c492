import type { Effect, ShownFault } from "../control/responses.js";
import { Button, ShowData } from "../elements/action.js";
import { conditionWords, effectWords, ordinal } from "../elements/fault-words.js";
import { Field, Form, type Option, RefField, Submit, textIn } from "../elements/form.js";
import { capitalized, counted } from "../elements/text.js";
import { DocsLink, Panel } from "../elements/words.js";
import { addFault, faultText, turnOff } from "./active-faults.js";

type Effects = readonly Effect[];

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
  const rows = faults.map((fault) => <FaultRow key={faultText(fault)} fault={fault} effects={effects} />);
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
      {/* Enter in a field presses the first button, and must choose no effect. */}
      <button type="submit" disabled hidden />
      <div class="bar">{buttons}</div>
    </Form>
  );
}
