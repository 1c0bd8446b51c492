import type { Shown } from "../../control/responses.js";
import { linkTo } from "../../route.js";
import { aboutAdvice, DocsLink } from "../docs-link.js";
import { counted, shortened } from "../words.js";

/** Advice of the report, or of one request, which has no count. */
type ShownAdvice = Pick<
  Shown<"Report">["advice"][number],
  "id" | "level" | "rule" | "meaning" | "what_to_do"
> & { readonly count?: number; readonly examples?: Shown<"Report">["advice"][number]["examples"] };

/** The tones of the levels, the most severe one first. */
export const adviceTones = { error: "key", warning: "limit", note: "other" } as const;

interface AdviceListProps {
  readonly advice: readonly ShownAdvice[];
  /** The numbers of requests that the journal still has, by advice id. A reset clears it, but not the report. */
  readonly inJournal?: Readonly<Record<string, number>>;
}

/** Advice on one line each. Opened, it shows the rule, how to fix the client, and the affected requests. */
export function AdviceList({ advice, inJournal = {} }: AdviceListProps) {
  return (
    <ul class="stack">
      {advice.map(({ id, level, rule, meaning, what_to_do, count, examples = [] }) => (
        <li key={id} class={`bar advice tone-${adviceTones[level]}`}>
          <details class="wide">
            <summary>
              <span class="badge toned">{level}</span> <strong>{id}</strong> {meaning}
            </summary>
            <div class="stack">
              <p>
                <strong>What to do:</strong> {what_to_do}
              </p>
              <p class="muted">
                Rule: {rule} <DocsLink to={aboutAdvice}>About {id}</DocsLink>
              </p>
              {suggestions(examples).map((example) => (
                <p class="muted" key={example.id}>
                  <a href={linkTo("requests", [example.id])}>
                    <Target request={example} />
                  </a>
                  : did you mean <code>{example.did_you_mean}</code>?
                </p>
              ))}
            </div>
          </details>
          {inJournal[id] === undefined ? (
            count !== undefined && <span class="muted">{counted(count, "request")}</span>
          ) : (
            <a href={linkTo("requests", [], { advice: id })}>Show {counted(inJournal[id], "request")}</a>
          )}
        </li>
      ))}
    </ul>
  );
}

type Example = Shown<"Report">["advice"][number]["examples"][number];

/** The examples with a suggestion, one for each request target. */
function suggestions(examples: readonly Example[]): readonly Example[] {
  const all = examples.filter((one) => one.did_you_mean !== null);
  const isSame = (one: Example, other: Example) => one.method === other.method && one.path === other.path;
  return all.filter((one, index) => index === all.findIndex((other) => isSame(one, other)));
}

/** The method and path of a request; a long path is cut. */
export function Target({ request }: { readonly request: Pick<Shown<"Request">, "method" | "path"> }) {
  const { method, path } = request;
  return (
    <bdi class="target">
      <code>
        {method} {shortened(path, 300)}
      </code>
    </bdi>
  );
}
