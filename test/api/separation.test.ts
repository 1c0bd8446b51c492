import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";

const base = "http://any.example/v1/relying-party/";
const announced = () => createSandbox({ scenario: "announced-endpoints" });
const pathsOf = (sandbox: ReturnType<typeof announced>) =>
  sandbox
    .report()
    .endpoints.filter(({ release, method }) => release === "announced" && method === "GET")
    .map(({ path }) => path.replace(/\{\w+\}/g, "a"));

test("R44 every farmer of a sandbox is synthetic, and labeled as such", () => {
  const farmers = announced().farmers.list();
  expect(farmers.length).toBeGreaterThan(2);
  expect(farmers.map(({ synthetic }) => synthetic)).toEqual(farmers.map(() => true));
});

test("R45 no endpoint returns a farmer of the sandbox for a live key", async () => {
  const sandbox = announced();
  const farmers = sandbox.farmers.list();
  const live = sandbox.keys.list().filter(({ environment }) => environment === "live");
  const paths = ["/v1/relying-party/me", ...pathsOf(sandbox)];
  expect([live.length > 0, paths.length > 2]).toEqual([true, true]);
  for (const { ref } of live) {
    for (const path of paths) {
      const headers = { "x-api-key": sandbox.secret(ref as "underwriting-live") };
      const text = await (await sandbox.fetch(new URL(path, base), { headers })).text();
      expect(farmers.filter(({ farmer_id: id }) => text.includes(id))).toEqual([]);
    }
  }
});

test("R49 outside of its scenario, announced paths respond like any unknown path", async () => {
  const [known, plain] = [announced(), createSandbox()];
  const respond = async (sandbox: typeof plain | typeof known, path: string) => {
    const response = await sandbox.fetch(new URL(path, base));
    return [response.status, await response.text()];
  };
  expect(pathsOf(known).length).toBeGreaterThan(2);
  for (const path of pathsOf(known)) {
    expect(await respond(plain, path)).toEqual(await respond(plain, `${base}nothing`));
    expect((await respond(known, path))[0]).not.toBe(404);
  }
});
