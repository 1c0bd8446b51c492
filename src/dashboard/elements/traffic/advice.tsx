import type { Report, Request } from "../../control/responses.js";
import { linkTo } from "../../route.js";
import { aboutAdvice, DocsLink } from "../docs-link.js";
import { counted, shortened } from "../words.js";

/** Advice of the report, or of one request, which has no count. */
export type ShownAdvice = Pick<
  Report["advice"][number],
  "id" | "level" | "rule" | "meaning" | "what_to_do"
> & { readonly count?: number; readonly examples?: Report["advice"][number]["examples"] };

const tones = { error: "key", warning: "limit", note: "other" } as const;

/** The tone of the most severe advice; a warning's if it is unknown. */
export function toneOfAdvice(advice: readonly Pick<ShownAdvice, "level">[]): string {
  const levels = advice.map(({ level }) => level);
  return tones[(["error", "warning", "note"] as const).find((level) => levels.includes(level)) ?? "warning"];
}

/** Advice on one line each. Opened, it shows the rule, how to fix the client, and the affected requests. */
export function AdviceList({ advice }: { readonly advice: readonly ShownAdvice[] }) {
  return (
    <ul class="stack">
      {advice.map(({ id, level, rule, meaning, what_to_do, count, examples = [] }) => (
        <li key={id} class={`bar advice tone-${tones[level]}`}>
          <details class="wide">
            <summary>
              <span class="badge toned">{level}</span> <strong>{id}</strong> {meaning}
            </summary>
            <div class="stack">
              <p>
                <strong>What to do:</strong> {what_to_do}
              </p>
              <p class="muted">
                Rule: {rule} <DocsLink to={aboutAdvice(id)}>About {id}</DocsLink>
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
          {count === undefined ? null : (
            <a href={linkTo("requests", [], { advice: id })}>Show {counted(count, "request")}</a>
          )}
        </li>
      ))}
    </ul>
  );
}

type Example = Report["advice"][number]["examples"][number];

/** The examples with a suggestion, one for each request target. */
function suggestions(examples: readonly Example[]): readonly Example[] {
  const all = examples.filter((one) => one.did_you_mean !== null);
  const isSame = (one: Example, other: Example) => one.method === other.method && one.path === other.path;
  return all.filter((one, index) => index === all.findIndex((other) => isSame(one, other)));
}

/** The method and path of a request; a long path is cut. */
export function Target({ request }: { readonly request: Pick<Request, "method" | "path"> }) {
  const { method, path } = request;
  return (
    <bdi class="target">
      <code>
        {method} {shortened(path, 300)}
      </code>
    </bdi>
  );
}
