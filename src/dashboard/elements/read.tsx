import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Resource } from "../control/resource.js";
import { Refusal } from "./forms/action.js";

interface ReadProps<Data> {
  readonly of: Resource<Data>;
  readonly children: (answer: Data) => ComponentChildren;
}

/** The last response of a resource, kept up to date. Before the first one, it shows that or why it is missing. */
export function Read<Data>({ of, children }: ReadProps<Data>) {
  useLayoutEffect(() => of.follow(), [of]);
  const answer = of.data.value;
  if (answer !== undefined) return <>{children(answer)}</>;
  return of.problem.value === undefined ? (
    <p class="muted">Reading…</p>
  ) : (
    <Refusal problem={of.problem.value} />
  );
}
