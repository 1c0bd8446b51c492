import { computed, signal } from "@preact/signals";
import { journal, requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { route } from "../../route.js";

export const filterNames = ["path", "key", "status", "advice"] as const;

/** Whether a request matches the filters. An empty filter matches all requests. */
function isChosen(request: Shown<"Request">, query: URLSearchParams): boolean {
  const [path, key, status, advice] = filterNames.map((name) => query.get(name) ?? "");
  return (
    (!path || request.path_id === path || request.fault === path) &&
    (!key || (request.key ?? request.fingerprint ?? "none").includes(key) || isIdOf(request, key)) &&
    (!status || String(request.status).startsWith(status)) &&
    (!advice || (advice === "any" ? request.advice.length > 0 : request.advice.some((id) => id === advice)))
  );
}

const isIdOf = ({ id }: Shown<"Request">, text: string) => text.startsWith("req_") && id.startsWith(text);

export const requests = computed(() => journal.data.value ?? []);

const held = signal<readonly Shown<"Request">[] | undefined>(undefined);

export const isHeld = computed(() => held.value !== undefined);

/** The number of later requests that the page still knows. */
export const newCount = computed(() => {
  if (held.value === undefined) return 0;
  const last = held.value.at(-1)?.id;
  return requests.value.length - 1 - requests.value.findLastIndex(({ id }) => id === last);
});

export function hold(): void {
  held.value ??= requests.peek();
}

export function goOn(): void {
  held.value = undefined;
}

/** The requests that match the filters, newest first. */
export const chosen = computed(() => {
  const { query } = route.value;
  const shown = held.value ?? requests.value;
  return shown.filter((request) => isChosen(request, query)).reverse();
});

/** The path ids of the checks, and of other requests in the journal. An endpoint that the sandbox lacks has none. */
export const pathIds = computed(() => {
  const { faults = [], checks = [], successes = [] } = requestChecks.data.value ?? {};
  const known: readonly string[] = [...successes, ...checks.flatMap(({ exits }) => exits), ...faults];
  return [...new Set([...known, ...requests.value.map(({ path_id }) => path_id)])];
});
