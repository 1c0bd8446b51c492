import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ShownFault } from "../control/responses.js";
import { Button, Read } from "../elements/action.js";
import { Field, Form, FormDraft, type Option } from "../elements/form.js";
import { capitalized, counted, DocsLink, instantText, Panel, shortened } from "../elements/words.js";

type Faults = readonly ShownFault[];

/** Replaces the active faults with the result of a function. Another page may have changed them in between. */
async function replaceFaults(next: (active: Faults) => Faults): Promise<void> {
  const active = await call<Faults>("/faults");
  // The number of its requests is no setting.
  const faults = next(active).map(({ when, then }) => ({ ...(when && { when }), then }));
  await call("/faults", { method: "PUT", body: { faults } });
}

export const turnOffAll = () => replaceFaults(() => []);

const textOf = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

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
      <Read path="/faults">
        {(active) => (
          <ul class="list">
            {active.length === 0 && <li>No faults.</li>}
            {active.map((fault, index) => (
              <FaultRow key={index} fault={fault} />
            ))}
          </ul>
        )}
      </Read>
      <NewFault />
      <p class="muted">
        A scenario can have more: at times, at random, for an organization or an outcome.{" "}
        <DocsLink to="scenarios.md#faults">How to write them</DocsLink>
      </p>
    </Panel>
  );
}

function FaultRow({ fault }: Readonly<{ fault: ShownFault }>) {
  const words = `${capitalized(conditionWords(fault.when))}: ${effectWords(fault.then)}`;
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

/** The effects with a button. */
const effects: readonly ShownFault["then"][] = [
  { status: 503 },
  { latency: "2s" },
  { reset: true },
  { hang: true },
  { truncate: true },
  { malformed: true },
  { slow: 25 },
];

/** The requests that the next fault hits. Stays while another view is shown. */
const draft = new FormDraft();

const every: readonly Option[] = [
  ["", "every request"],
  ...[2, 3, 4, 5, 10].map((nth) => [`${nth}`, `every ${nth} requests`] as const),
];

function NewFault() {
  const refs = useData("/keys?limit=1000").data?.map(({ ref }) => ref) ?? [];
  const add = (words: string) => {
    const key = draft.text("key");
    const nth = draft.text("nth");
    const when = { ...(key && { key }), ...(nth && { every: Number(nth) }) };
    const condition = Object.keys(when).length > 0 && { when };
    const then = effects.find((effect) => effectWords(effect) === words) ?? {};
    return replaceFaults((active) => [...active, { ...condition, then }]);
  };
  return (
    <Form draft={draft} class="stack" send={add}>
      <h3>Add a fault</h3>
      <div class="form-fields">
        <Field draft={draft} name="key" label="For key" of={[["", "every key"], ...refs]} />
        <Field draft={draft} name="nth" label="For requests" of={every} />
      </div>
      <div class="bar">
        {effects.map(effectWords).map((words) => (
          <button key={words} type="submit" class="quiet" value={words}>
            {capitalized(words)}
          </button>
        ))}
      </div>
    </Form>
  );
}

/** The requests that match a fault: `every 3 requests with the key flaky`. */
function conditionWords(when: ShownFault["when"] = {}): string {
  const { key, organization, path_id: path, every: nth = 1, requests, probability, after, until } = when;
  return [
    probability !== undefined && `with a probability of ${Math.round(probability * 1000) / 10}%,`,
    requests === undefined
      ? `every ${nth > 1 ? `${nth} requests` : "request"}`
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

/** The effects of a fault: `503, 2s late`. */
function effectWords({
  latency,
  status,
  body,
  slow,
  reset,
  hang,
  truncate,
  malformed,
}: ShownFault["then"]): string {
  const delay = typeof latency === "object" ? Object.values(latency).join(" to ") : latency;
  const words = [
    status !== undefined && `${status}${body === "html" ? " with a gateway's page" : ""}`,
    reset && "connection reset",
    hang && "no response",
    truncate && "cut body",
    malformed && "broken JSON",
    slow !== undefined && `${slow} bytes per second`,
    delay !== undefined && `${delay} late`,
  ];
  return words.filter(Boolean).join(", ");
}
