import { copyFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { runs } from "../support/property-seed.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { loanRecords, loans, scenarioOf } from "./sandbox.js";

/** A loan as its clients know it. */
interface Loan {
  readonly id: string;
  readonly owner: string;
  amount: number;
  status: string;
  /** When it became pending. */
  since: number;
  isRemoved: boolean;
}

const owners: Readonly<Record<string, string>> = {
  main: "bank test",
  second: "bank test",
  live: "bank live",
  others: "other test",
};
const hour = 3_600_000;
const key = fc.constantFrom(...Object.keys(owners));
const amount = fc.integer({ min: 1, max: 1_000_000 });
const one = fc.nat(12);

const operation = fc.oneof(
  fc.record({ do: fc.constant("create" as const), key, amount, once: fc.constantFrom("", "a", "b") }),
  fc.record({ do: fc.constant("add" as const), key, amount }),
  fc.record({ do: fc.constantFrom("read" as const, "approve" as const, "remove" as const), key, one }),
  fc.record({ do: fc.constant("change" as const), key, one, amount }),
  fc.record({ do: fc.constantFrom("set" as const, "drop" as const), one }),
  fc.record({ do: fc.constant("list" as const), key }),
  fc.record({ do: fc.constant("wait" as const), hours: fc.constantFrom(0.5, 1, 2) }),
  fc.record({ do: fc.constantFrom("kill" as const, "kill" as const, "reload" as const) }),
);

const scenario = parseScenario(JSON.stringify(scenarioOf({ openapi: loans, records: loanRecords })));

type Step = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;
type Of<Does extends Step["do"]> = Extract<Step, { readonly do: Does }>;

/** A server with a state file, and the records as a small model has them. */
async function start(folder: string) {
  let files = 0;
  const nextFile = () => join(folder, `${++files}.json`);
  let file = nextFile();
  const open = () => served({ scenario, state: file });
  let server = await open();
  const all: Loan[] = [];
  const once = new Map<string, { body: unknown; amount: number }>();
  let now = 0;
  const ask = async (call: string, as: string, body?: object, more = {}) => {
    const [method = "", path = ""] = call.split(" ");
    const headers = { "x-api-key": server.sandbox.secret(as), "content-type": "application/json", ...more };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(server.url + path, init);
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  const shown = ({ id, amount, status }: Loan) => expect.objectContaining({ id, amount, status });
  const make = (id: string, owner: string, wanted: number) =>
    void all.push({ id, owner, amount: wanted, status: "pending", since: now, isRemoved: false });
  const meant = ({ one }: { one: number }) => all[one % Math.max(1, all.length)];
  const there = (step: { one: number }) => (meant(step)?.isRemoved === false ? meant(step) : undefined);
  /** Sends a request about a record; returns the record if its key sees it. */
  const about = async (step: { key: string; one: number }, method: string, more = "", body?: object) => {
    const loan = there(step);
    const seen = loan?.owner === owners[step.key] ? loan : undefined;
    const path = `/loans/${meant(step)?.id ?? "loan_0000000000"}${more}`;
    const response = await ask(`${method} ${path}`, step.key, body);
    if (seen === undefined) expect(response.status).toBe(404);
    return { seen, ...response };
  };
  const acts: { readonly [Does in Step["do"]]: (step: Of<Does>) => Promise<void> | void } = {
    async create({ key: as, amount: wanted, once: name }) {
      const owner = owners[as] as string;
      const earlier = name === "" ? undefined : once.get(`${owner} ${name}`);
      const headers = name === "" ? {} : { "Idempotency-Key": name };
      const { status, body } = await ask("POST /loans", as, { amount: wanted }, headers);
      if (earlier !== undefined && earlier.amount !== wanted) return expect(status).toBe(422);
      if (earlier !== undefined) return expect([status, body]).toEqual([201, earlier.body]);
      expect([status, body.data.amount, body.data.status]).toEqual([201, wanted, "pending"]);
      expect(all.map(({ id }) => id)).not.toContain(body.data.id);
      make(body.data.id, owner, wanted);
      if (name !== "") once.set(`${owner} ${name}`, { body, amount: wanted });
    },
    add({ key: as, amount: wanted }) {
      const [organization, environment] = (owners[as] as string).split(" ") as [string, "test" | "live"];
      const { id } = server.sandbox.records.add("loans", { organization, environment, amount: wanted });
      make(id, owners[as] as string, wanted);
    },
    async read(step) {
      const { seen, body } = await about(step, "GET");
      if (seen) expect(body.data).toEqual(shown(seen));
    },
    async approve(step) {
      const { seen, status } = await about(step, "POST", "/approve");
      if (seen) expect(status).toBe(seen.status === "pending" ? 200 : 409);
      if (seen && status === 200) seen.status = "approved";
    },
    async remove(step) {
      const { seen, status } = await about(step, "DELETE");
      if (seen === undefined) return;
      expect(status).toBe(204);
      seen.isRemoved = true;
    },
    async change(step) {
      const { seen, status } = await about(step, "PATCH", "", { amount: step.amount });
      if (seen === undefined) return;
      expect(status).toBe(200);
      seen.amount = step.amount;
    },
    async list({ key: as }) {
      const own = all.filter(({ owner, isRemoved }) => owner === owners[as] && !isRemoved);
      expect((await ask("GET /loans?limit=50", as)).body).toEqual({
        data: own.map(shown),
        total: own.length,
      });
    },
    wait({ hours }) {
      now += hours * hour;
      server.sandbox.clock.advance(`${hours * 60}m`);
    },
    set(step) {
      const loan = there(step);
      if (loan === undefined) return;
      server.sandbox.records.set("loans", loan.id, { status: "pending" });
      if (loan.status !== "pending") Object.assign(loan, { status: "pending", since: now });
    },
    drop(step) {
      const loan = there(step);
      if (loan === undefined) return;
      server.sandbox.records.remove("loans", loan.id);
      loan.isRemoved = true;
    },
    async kill() {
      // A killed process leaves the file as it is after its last response. What this process changed is written before it.
      const frozen = {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: '{"frozen":true}',
      };
      expect((await fetch(`${server.controlUrl}/clock`, frozen)).status).toBe(200);
      const left = file;
      file = nextFile();
      copyFileSync(left, file);
      await server.close(0);
      server = await open();
    },
    async reload() {
      await server.close(0);
      server = await open();
    },
  };
  return async (step: Step) => {
    for (const loan of all)
      if (loan.status === "pending" && now - loan.since >= 2 * hour) loan.status = "expired";
    await acts[step.do](step as never);
  };
}

test("R44 any history of requests and steps is as in a model, with kills of the server in between: nothing is lost, and no other organization sees anything", async () => {
  const folder = temporaryFolder();
  const histories = fc.array(operation, { minLength: 5, maxLength: 30 });
  let run = 0;
  const property = fc.asyncProperty(histories, async (history) => {
    const act = await start(join(folder, String(++run)));
    for (const step of history) await act(step);
  });
  await fc.assert(property, runs(25));
});
