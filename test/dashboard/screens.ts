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

async function rejectMember(page: Page): Promise<void> {
  await page.getByLabel("Acting as").selectOption("member");
  await page.getByLabel("Status").first().selectOption("inactive");
  await page.getByRole("alert").waitFor();
}

async function rejectNewKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Rejected");
  await page.getByLabel("Expires").fill("soon");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("alert").waitFor();
}

async function showSecret(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shown once");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.locator(".secret-text").waitFor();
}

async function chooseWrongFile(page: Page): Promise<void> {
  const file = { name: "mine.yaml", mimeType: "application/yaml", buffer: Buffer.from("nothing: 1\n") };
  await page.getByLabel("Scenario file").setInputFiles(file);
  await page.getByRole("alert").waitFor();
}

const tell: NonNullable<Screen["before"]>[number] = ["POST", "/story/next"];
const told = (count: number) => Array.from({ length: count }, () => tell);

// Some of them earn advice of each level.
const clients: NonNullable<Screen["clients"]> = [
  ...(["active", "active", "revoked", "legacy", "wrong-scope", "rate-limited"] as const).map(
    (key) => [key] as const,
  ),
  ["active", "/v1/relying-party/mee"],
  ["active", "/v1/relying-party/me?api_key=SVC_test_1234567890123456789012345678901"],
];

const one = "requests/req_bc8550a0796dcd925b0903ef";

/** Every view, with something to see; what is true of each of them is tested of this list. */
export const screens: readonly Screen[] = [
  {
    title: "overview with requests and open advice",
    view: "overview",
    options: { scenario: "key-states" },
    clients,
    act: (page) => page.locator(".advice summary").first().click(),
  },
  { title: "overview with an exit", view: "overview/401.rotated", options: { scenario: "key-states" } },
  { title: "requests", view: "requests", options: { scenario: "key-states" }, clients },
  { title: "one request", view: one, options: { scenario: "key-states" }, clients },
  {
    title: "a request that was fixed and sent again",
    view: "requests?path=403.insufficient_scope",
    options: { scenario: "key-states" },
    clients,
    async act(page) {
      await page.locator(".request-list tbody a").click();
      await press("Create a key with this scope")(page);
      await page.locator(".secret").waitFor();
      await press("Send again")(page);
      await page.getByText("Sent again: 200").waitFor();
    },
  },
  {
    title: "faults, with the form of another one",
    view: "faults",
    options: { scenario: "bad-day" },
    act: (page) => page.locator("summary", { hasText: "Add another fault" }).click(),
  },
  { title: "the running scenario", view: "scenario", options: { scenario: "rotation" } },
  { title: "story before its first step", view: "story", options: { scenario: "rotation" } },
  { title: "story with a rejection", view: "story", options: { scenario: "rotation" }, before: told(22) },
  { title: "story that is over", view: "story", options: { scenario: "bad-day" }, before: told(60) },
  {
    title: "a scenario file with problems",
    view: "scenario",
    options: { scenario: "rotation" },
    act: chooseWrongFile,
  },
  { title: "keys", view: "keys" },
  {
    title: "keys of a population, as a member who was rejected",
    view: "keys?page=2",
    options: {
      scenario: parseScenario("version: 1\npopulation: { organizations: 29, keys_per_organization: 2 }\n"),
    },
    act: rejectMember,
  },
  { title: "one key", view: "keys/retiring", before: [["POST", "/send", { key: "retiring" }]] },
  { title: "the form of a new key, rejected", view: "keys", act: rejectNewKey },
  { title: "the secret of a new key", view: "keys", act: showSecret },
  { title: "the form of a key's end", view: "keys/active", act: press("Ends in… active") },
  { title: "the question before a revocation", view: "keys/active", act: press("Revoke active") },
  { title: "time with a timeline and faults", view: "time", options: { scenario: "bad-day" } },
  { title: "the question before a reset", view: "time", act: press("Reset…") },
];
