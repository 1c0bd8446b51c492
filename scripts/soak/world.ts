/** A key that every version of the world has; its limit tells it from all others. */
export interface SteadyKey {
  readonly ref: string;
  readonly perMinute: number;
}

const organizations = ["first", "second"] as const;
const environments = ["test", "live"] as const;

/** Far above what is sent in a minute, and another one for each key. */
const leastLimit = 1_000_000;

/** As many as an organization may have. */
export const steadyKeys: readonly SteadyKey[] = organizations
  .flatMap((organization) =>
    environments.flatMap((environment) => [1, 2, 3, 4, 5].map((n) => `${organization}-${environment}-${n}`)),
  )
  .map((ref, index) => ({ ref, perMinute: leastLimit + index }));

export const faultyKey = "faulty";

/** The world as YAML; its versions differ in names alone. */
export function worldText(name: string): string {
  const keysOf = (organization: string) =>
    steadyKeys
      .filter(({ ref }) => ref.startsWith(organization))
      .map(({ ref, perMinute }) => {
        const environment = ref.split("-")[1];
        return `      ${ref}: { environment: ${environment}, limits: { per_minute: ${perMinute}, per_day: 1000000000 } }\n`;
      })
      .join("");
  const steady = organizations.map(
    (ref) =>
      `  ${ref}:\n    name: ${name}\n    type: bank\n    live_access: approved\n    keys:\n${keysOf(ref)}`,
  );
  return `version: 1
name: ${name}
organizations:
${steady.join("")}  changing: { type: bank, live_access: approved }
  broken:
    type: insurer
    keys:
      ${faultyKey}: { environment: test, limits: { per_minute: 1000000, per_day: 1000000000 } }
`;
}

/** Faults that only requests with the faulty key meet. */
export const faults: readonly object[] = [
  { status: 503 },
  { status: 502, body: "html" },
  { reset: true },
  { truncate: true },
  { malformed: true },
  { hang: true },
  { slow: 2000 },
  { latency: { min: "1ms", max: "30ms" } },
].map((then) => ({ when: { key: faultyKey }, then }));

/** Handlers beside the API: what is sent to them comes back, at once or a little later. */
export const handlersText = `import { delay, HttpResponse, http } from "msw";
const echo = async ({ request, params }) => HttpResponse.json({ echo: params.id, text: await request.text() });
export default [
  http.all("/echo/:id", echo),
  http.all("/late/:id", async (asked) => {
    await delay(15);
    return echo(asked);
  }),
  http.post("/careless/:id", ({ request, params }) => {
    request.text().then((text) => text.length);
    return HttpResponse.json({ echo: params.id, text: "" });
  }),
];
`;
