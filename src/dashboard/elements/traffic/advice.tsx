import type { Report, Request } from "../../control/answers.js";
import { linkTo } from "../../route.js";
import { aboutAdvice, DocsLink } from "../docs-link.js";
import { counted, shortened } from "../words.js";

/** Advice of the report, or of one request, which has no count. */
export type ShownAdvice = Pick<
  Report["advice"][number],
  "id" | "level" | "rule" | "meaning" | "what_to_do"
> & { readonly count?: number; readonly examples?: Report["advice"][number]["examples"] };

/** Advice: the client's mistake, its rule, how to fix it, and the affected requests. */
export function AdviceList({ advice }: { readonly advice: readonly ShownAdvice[] }) {
  return (
    <ul class="advice-list">
      {advice.map(({ id, level, rule, meaning, what_to_do, count, examples = [] }) => (
        <li key={id} class={`advice level-${level}`}>
          <p class="advice-head">
            <span class="badge">{level}</span>{" "}
            <DocsLink to={aboutAdvice(id)}>
              <strong>{id}</strong>
            </DocsLink>
            {count === undefined ? null : (
              <a href={linkTo("requests", [], { advice: id })}>{counted(count, "request")}</a>
            )}
          </p>
          <p>{meaning}</p>
          <p>
            <strong>What to do:</strong> {what_to_do}
          </p>
          <p class="muted">Rule: {rule}</p>
          {suggestions(examples).map((example) => (
            <p class="muted" key={example.id}>
              <a href={linkTo("requests", [example.id])}>
                <Target request={example} />
              </a>
              : did you mean <code>{example.did_you_mean}</code>?
            </p>
          ))}
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
