import type { Report, Request } from "../control/answers.js";
import { linkTo } from "../route.js";
import { aboutAdvice, DocsLink } from "./docs-link.js";
import { counted, shortened } from "./words.js";

/** An advice of the report, or of one request, which has no count. */
export type ShownAdvice = Pick<
  Report["advice"][number],
  "id" | "level" | "rule" | "meaning" | "what_to_do"
> & { readonly count?: number; readonly examples?: Report["advice"][number]["examples"] };

/** Advice: what a client did, its rule, what to do, and the requests concerned. */
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
          {withoutRepeats(examples).map((example) => (
            <Suggestion key={example.id} example={example} />
          ))}
        </li>
      ))}
    </ul>
  );
}

type Example = Report["advice"][number]["examples"][number];

/** Of examples that read the same, the first. */
function withoutRepeats(examples: readonly Example[]): Example[] {
  const textOf = ({ method, path, did_you_mean }: Example) => `${method} ${path} ${did_you_mean}`;
  return [...new Map(examples.toReversed().map((one) => [textOf(one), one])).values()].toReversed();
}

function Suggestion({ example }: { readonly example: Report["advice"][number]["examples"][number] }) {
  if (example.did_you_mean === null) return null;
  return (
    <p class="muted">
      <a href={linkTo("requests", [example.id])}>
        <Target request={example} />
      </a>
      : did you mean <code>{example.did_you_mean}</code>?
    </p>
  );
}

/** The method and path of a request, cut where the path is long. */
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
