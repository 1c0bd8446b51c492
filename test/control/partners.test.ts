import { expect, test } from "vitest";
import { createCallers, createDailyCount } from "../../src/control/partners/callers.js";
import { startServer } from "../../src/serve/start-server.js";
import { axeProblems } from "../support/axe.js";
import { noBrowser, takePage } from "../support/chromium-page.js";
import { exchange } from "../support/exchange.js";
import { mePath } from "../support/send.js";
import { serveControl } from "./client.js";

const html = { accept: "text/html" };

/** Sends a form as a browser does. */
async function post(url: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const { origin } = new URL(url);
  const sent = { ...html, origin, "content-type": "application/x-www-form-urlencoded", ...headers };
  const body = String(new URLSearchParams(fields));
  const response = await exchange(url, { method: "POST", headers: sent, body });
  return { status: response.status, text: String(response.bytes) };
}

const tokenIn = (page: string) => /svci_\w{32}/.exec(page)?.[0] as string;

test("a partner creates an instance of an offered scenario, and the page has the token, the keys and a request", async () => {
  const { server, ask } = await serveControl({
    host: "0.0.0.0",
    selfService: { scenarios: ["key-states", "rotation"] },
  });
  const right = { authorization: `Bearer ${server.controlToken}` };
  const page = await (await fetch(`${server.url}/`, { headers: html })).text();
  expect([...page.matchAll(/<option value="([^"]*)"/g)].map(([, name]) => name)).toEqual([
    "key-states",
    "rotation",
  ]);
  const { status, text } = await post(`${server.url}/`, { scenario: "rotation", label: "Harvest Bank" });
  expect(status).toBe(200);
  const [made] = (await ask("/instances?label=harvest", { headers: right })).body.data;
  expect(made.scenario).toBe("rotation");
  const own = { authorization: `Bearer ${tokenIn(text)}` };
  expect((await ask("/state", { base: `/i/${made.id}`, headers: own })).status).toBe(200);
  const [, key = "", url = ""] = /curl -i -H &quot;x-api-key: (\S+)&quot; ([^<\s]+)/.exec(text) ?? [];
  expect(url).toBe(`${made.base_url}${mePath}`);
  expect((await fetch(url, { headers: { "x-api-key": key } })).status).toBe(200);
  expect(text).toContain(`SVC_SANDBOX_CONTROL_TOKEN=${tokenIn(text)}\n`);
  expect(text).toContain(`os.environ[&quot;SVC_BASE_URL&quot;] = &quot;${made.base_url}&quot;`);
  // Clients of the API see no page, and nobody sees the token again.
  expect((await fetch(`${server.url}/`)).headers.get("content-type")).toBe("application/json");
  expect((await fetch(`${server.url}/i/${made.id}/`, { headers: html })).status).toBe(404);
});

test("the page creates nothing for a scenario that is not offered, a label that may be a key, or another site", async () => {
  const { server, ask } = await serveControl({ selfService: {} });
  const url = `${server.url}/`;
  expect(await (await fetch(url, { headers: html })).text()).toContain('<option value="">');
  const label = "<script>SVC_live_x</script>";
  for (const [status, fields, headers] of [
    [422, { scenario: "rotation" }, {}],
    [422, { label }, {}],
    [403, {}, { origin: "http://evil.example" }],
    [403, {}, { "sec-fetch-site": "cross-site" }],
    [404, {}, { "content-type": "text/plain" }],
  ] as const) {
    const answer = await post(url, fields, headers);
    expect([fields, answer.status, answer.text.includes("<script>")]).toEqual([fields, status, false]);
  }
  expect((await ask("/instances")).body.data).toEqual([]);
});

test("an address creates so many instances a day, and failures do not count", async () => {
  const { server } = await serveControl({ selfService: { daily: 2 } });
  const create = (forwarded: string, fields = {}) =>
    post(`${server.url}/`, fields, { "x-forwarded-for": forwarded });
  const statuses: number[] = [];
  for (const fields of [{}, { scenario: "none" }, {}, {}]) {
    statuses.push((await create("192.0.2.1", fields)).status);
  }
  expect(statuses).toEqual([200, 422, 200, 429]);
  const [one, other] = [await create("192.0.2.2"), await create("192.0.2.3")];
  expect([one.status, other.status]).toEqual([200, 200]);
  // What one partner has opens nothing of another.
  const keysIn = (page: string) =>
    [...new Set(page.match(/SVC_test_sbx\w+/g))].filter((key) => one.text.includes(key));
  expect(keysIn(one.text).length).toBeGreaterThan(8);
  expect(keysIn(other.text)).toEqual([]);
});

test("a day has 24 hours for each address", () => {
  let now = 0;
  const count = createDailyCount(1, () => now);
  count("one");
  expect(() => count("one")).toThrow("24 hours");
  count("other")();
  count("other");
  now = 24 * 3_600_000 - 1;
  expect(() => count("one")).toThrow("24 hours");
  now += 1;
  count("one");
});

test("only trusted proxies are believed: in the address of a caller, and in the name", () => {
  const callers = createCallers({
    trustHeader: "X-Forwarded-User",
    trustProxies: ["10.0.0.0/8", "fd00::/8"],
  });
  const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
    ({ headers, socket: { remoteAddress } }) as never;
  const addressOf = (remote: string, chain: string) =>
    callers.addressOf(from(remote, { "x-forwarded-for": chain }));
  expect(addressOf("192.0.2.9", "198.51.100.1")).toBe("192.0.2.9");
  expect(addressOf("10.1.1.1", "198.51.100.1")).toBe("198.51.100.1");
  expect(addressOf("::ffff:10.1.1.1", "203.0.113.7, 198.51.100.1, 10.2.2.2")).toBe("198.51.100.1");
  expect(addressOf("fd00::1", "2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
  expect(addressOf("fd00::1", "2001:db8::6")).toBe("2001:db8:0:0");
  expect(addressOf("10.1.1.1", "garbage")).toBe("10.1.1.1");
  const nameOf = (remote: string, name: string) =>
    callers.nameOf(from(remote, { "x-forwarded-user": Buffer.from(name).toString("latin1") }));
  expect(nameOf("10.1.1.1", "jörg@bank.example")).toBe("jörg@bank.example");
  expect(nameOf("192.0.2.9", "jörg@bank.example")).toBeUndefined();
  expect(nameOf("10.1.1.1", " ")).toBeUndefined();
  expect(nameOf("10.1.1.1", `SVC_live_${"a".repeat(32)}`)).toBe("SVC_live_…");
  expect(createCallers({}).nameOf(from("127.0.0.1", { "x-forwarded-user": "x" }))).toBeUndefined();
});

test("with --trust-header an instance has the name of its user, whom the page needs to know", async () => {
  const { server, ask } = await serveControl({ selfService: { trustHeader: "X-Forwarded-User" } });
  expect((await post(`${server.url}/`)).status).toBe(403);
  const name = { "x-forwarded-user": "<b>jane" };
  const page = await exchange(`${server.url}/`, { headers: { ...html, ...name } });
  expect(String(page.bytes)).toContain("signed in as &lt;b&gt;jane");
  expect((await post(`${server.url}/`, {}, name)).status).toBe(200);
  await ask("/instances", { method: "POST", headers: name });
  await ask("/instances", { method: "POST" });
  const owners = (await ask("/instances")).body.data.map(({ owner }: { owner: string }) => owner);
  expect(owners).toEqual(["<b>jane", "<b>jane", null]);
});

test("a proxy that is not trusted names nobody", async () => {
  const { server } = await serveControl({
    selfService: { trustHeader: "X-Forwarded-User", trustProxies: ["10.0.0.0/8"] },
  });
  expect((await post(`${server.url}/`, {}, { "x-forwarded-user": "jane" })).status).toBe(403);
});

test("a one-time link shows a page that does not use it up, and its button shows the token once", async () => {
  const { ask, server } = await serveControl({ controlToken: "the owner's own token" });
  const headers = { authorization: "Bearer the owner's own token" };
  const { id, claim_url } = (await ask("/instances", { method: "POST", headers })).body.data;
  for (let n = 0; n < 2; n += 1) {
    const page = await exchange(claim_url, { headers: html });
    expect([page.status, String(page.bytes).includes("svci_")]).toEqual([200, false]);
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect([page.headers["cache-control"], page.headers["x-frame-options"]]).toEqual(["no-store", "DENY"]);
  }
  const { status, text } = await post(claim_url);
  expect(status).toBe(200);
  const own = { authorization: `Bearer ${tokenIn(text)}` };
  expect((await ask("/state", { base: `/i/${id}`, headers: own })).status).toBe(200);
  const again = await post(claim_url);
  expect([again.status, again.text.includes("Ask for a new link")]).toEqual([404, true]);
  expect((await post(`${server.url}/`)).status).toBe(404);
});

test.skipIf(noBrowser)(
  "without scripts a browser creates an instance and opens its dashboard, and axe finds nothing",
  async () => {
    const { server } = await serveControl({ controlToken: "the owner's own token", selfService: {} });
    const page = await takePage({ javaScriptEnabled: false });
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(server.url);
    await page.getByLabel("Name").fill("Harvest Bank");
    await page.getByRole("button").click();
    await page.getByText("PowerShell").click();
    expect(await page.getByText("$env:SVC_API_KEY").isVisible()).toBe(true);
    const dashboard = (await page.getByRole("link").first().getAttribute("href")) as string;
    expect(complaints).toEqual([]);

    const own = await takePage({});
    await own.goto(dashboard);
    await own.getByRole("heading", { level: 1 }).waitFor();
    expect(await own.getByText(/control token/i).count()).toBe(0);
    const read = await takePage({});
    await read.goto(server.url);
    expect(await axeProblems(read)).toEqual([]);
    await read.getByRole("button").click();
    await read.getByText("First request").waitFor();
    expect(await axeProblems(read)).toEqual([]);
  },
);

test("a trusted proxy that is not an address or a network is rejected when the server starts", async () => {
  const selfService = { trustProxies: ["10.0.0.0/8", "10.0.0.0/33"] };
  await expect(startServer({ selfService })).rejects.toMatchObject({ code: "usage" });
});
