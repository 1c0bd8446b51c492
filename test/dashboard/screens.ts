import type { Page } from "playwright-core";
import { parseScenario } from "../../src/index.js";
import type { DashboardOptions } from "./open-dashboard.js";

/** A view as it is measured: its name in the address, and the sandbox that it shows. */
export interface Screen {
  readonly title: string;
  readonly view: string;
  readonly options?: DashboardOptions;
  /** Calls of the control plane before it is looked at: method, path, body. */
  readonly before?: readonly (readonly [method: string, path: string, body?: unknown])[];
  /** Requests of clients before it is looked at: with the key of this ref, to the usual path unless it is given. */
  readonly clients?: readonly (readonly [key: string, path?: string])[];
  /** What is done on the page before: a dialog that is opened. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const press = (name: string) => (page: Page) => page.getByRole("button", { name }).click();

async function rejectNewKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Rejected");
  await page.getByLabel("Ends").fill("soon");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("alert").first().waitFor();
}

async function showSecret(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shown once");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator(".secret .code").waitFor();
}

async function chooseWrongFile(page: Page): Promise<void> {
  const file = { name: "mine.yaml", mimeType: "application/yaml", buffer: Buffer.from("nothing: 1\n") };
  await page.getByLabel("Scenario file").setInputFiles(file);
  await page.getByRole("alert").first().waitFor();
}

async function fixAndSendAgain(page: Page): Promise<void> {
  await page.locator(".requests a").first().click();
  await press("Create a key with this scope")(page);
  await page.locator(".secret").waitFor();
  await press("Send again")(page);
  await page.locator(".detail .status", { hasText: "200" }).waitFor();
}

const told = (count: number) => Array.from({ length: count }, () => ["POST", "/story/next"] as const);

// Some of them earn advice of each level.
const clients: NonNullable<Screen["clients"]> = [
  ...(["active", "active", "revoked", "legacy", "wrong-scope", "rate-limited"] as const).map(
    (key) => [key] as const,
  ),
  ["active", "/v1/relying-party/mee"],
  ["active", "/v1/relying-party/me?api_key=SVC_test_1234567890123456789012345678901"],
];

const options = { scenario: "key-states" } as const;
const population = parseScenario("version: 1\npopulation: { organizations: 29, keys_per_organization: 9 }\n");

/** Every view, with something to see; what is true of each of them is tested of this list. */
export const screens: readonly Screen[] = [
  {
    title: "overview with requests and open advice",
    view: "overview",
    options,
    clients,
    act: (page) => page.locator(".advice summary").first().click(),
  },
  { title: "overview with an outcome", view: "overview/401.rotated", options },
  { title: "requests", view: "requests", options, clients },
  { title: "one request", view: "requests/req_bc8550a0796dcd925b0903ef", options, clients },
  {
    title: "a request that was fixed and sent again",
    view: "requests?filter=403.insufficient_scope",
    options,
    clients,
    act: fixAndSendAgain,
  },
  { title: "story before its first step", view: "story", options: { scenario: "rotation" } },
  { title: "story with a rejection", view: "story", options: { scenario: "rotation" }, before: told(22) },
  {
    title: "story with lifelines in an overlap",
    view: "story",
    options: { scenario: "rotation" },
    before: told(11),
  },
  { title: "story that is over", view: "story", options: { scenario: "bad-day" }, before: told(60) },
  {
    title: "keys, with a new one and a fault",
    view: "keys",
    options,
    before: [
      ["POST", "/keys", { organization: "harvest-bank", environment: "test", name: "Core banking" }],
      ["PUT", "/faults", { faults: [{ when: { every: 2 }, then: { status: 503 } }] }],
    ],
  },
  { title: "keys of a population", view: "keys", options: { scenario: population } },
  { title: "one key", view: "keys/retiring", before: [["POST", "/send", { key: "retiring" }]] },
  { title: "the form of a new key, rejected", view: "keys", act: rejectNewKey },
  { title: "the secret of a new key", view: "keys", act: showSecret },
  { title: "the form of a key's end", view: "keys/active", act: press("Set its end…") },
  { title: "the question before a revocation", view: "keys/active", act: press("Revoke…") },
  { title: "the sandbox with faults", view: "sandbox", options: { scenario: "bad-day" } },
  { title: "the sandbox with a file with problems", view: "sandbox", act: chooseWrongFile },
  { title: "the question before a reset", view: "sandbox", act: press("Reset…") },
];
