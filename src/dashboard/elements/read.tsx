import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Resource } from "../control/resource.js";
import { RejectionText } from "./forms/action.js";

interface ReadProps<Data> {
  readonly of: Resource<Data>;
  readonly children: (response: Data) => ComponentChildren;
}

/** The last response of a resource, kept up to date. Before the first one, it shows that or why it is missing. */
export function Read<Data>({ of, children }: ReadProps<Data>) {
  useLayoutEffect(() => of.follow(), [of]);
  const response = of.data.value;
  if (response !== undefined) return <>{children(response)}</>;
  return of.problem.value === undefined ? (
    <p class="muted">Reading…</p>
  ) : (
    <RejectionText problem={of.problem.value} />
  );
}
