import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/chromium-page.js";
import { coverage, coverageText } from "../support/coverage.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { openDashboard, settled } from "./open-dashboard.js";

describe.skipIf(noBrowser)("the overview", () => {
  test("shows the checks in their order, and an exit lights up with its count when a client leaves there", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    const { checks, faults, successes } = (await ask("/request-checks")).body.data;
    const names = checks.map(({ name }: { name: string }) => name);
    await page.locator(".checks > li").nth(checks.length).waitFor();
    expect(await page.locator(".check-name").allTextContents()).toEqual(["faults", ...names, "passed"]);
    const exits = checks.flatMap((check: { exits: string[] }) => check.exits);
    expect(await page.locator(".exits code").allTextContents()).toEqual([...faults, ...exits, ...successes]);
    expect(await page.locator("a.exit-met").count()).toBe(0);

    for (const ref of ["active", "active", "revoked"])
      await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
    await page.locator("a.exit-met", { hasText: "200.test" }).getByText("2 by clients").waitFor();
    await page.locator("a.exit-met", { hasText: "401.revoked" }).getByText("1 by clients").waitFor();
    expect(await page.locator("a.exit-met").count()).toBe(2);
    await page.getByRole("progressbar", { name: coverageText(2) }).waitFor();
    await page.getByText("3 client requests to key-states, seed 1, profile minimal.").waitFor();
    expect(server.sandbox.report().coverage).toEqual(coverage(2));
  });

  test("an exit says how to meet it, and what is sent from there is on the map but not the client's; by keyboard", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    await page.locator("a.exit", { hasText: "401.expired" }).focus();
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#/overview/401.expired");
    const detail = page.getByRole("region", { name: "Outcome 401.expired" });
    await detail.getByText("send SVC_KEY_EXPIRED").waitFor();
    // At the right, in sight, with the focus.
    await page.locator(":focus[aria-label='Outcome 401.expired']").waitFor();
    const box = await detail.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= 900 && box.x > 640).toBe(true);
    // The address shows the same again.
    await page.reload();
    await settled(page);
    await detail.getByRole("button", { name: "Send it now" }).focus();
    await page.keyboard.press("Enter");
    await detail.getByText("Response: 401").waitFor();
    await page.locator("a.exit-by-story", { hasText: "401.expired" }).waitFor();
    const [sent] = (await ask("/requests")).body.data;
    expect(sent).toMatchObject({ key: "expired", path_id: "401.expired", source: "story" });
    expect(server.sandbox.report()).toMatchObject({ requests: 0, coverage: { covered: 0 } });
    // A reload reads it from the journal.
    await page.reload();
    await page.locator("a.exit-by-story", { hasText: "401.expired" }).getByText("1 by the story").waitFor();
    await detail.getByRole("link", { name: "Show these requests" }).click();
    expect(new URL(page.url()).hash).toBe("#/requests?path=401.expired");
  });

  test("names eight paths that are not covered, and draws all among the checks", async () => {
    const operations = Array.from({ length: 30 }, (_, n) => ({
      [`/v1/relying-party/things-${n}`]: {
        get: { operationId: `getThing${n}`, responses: { 200: { description: "A thing" } } },
      },
    }));
    const paths = Object.assign({}, ...operations);
    const info = { title: "Things", version: "1" };
    const folder = temporaryFolder();
    writeFileSync(join(folder, "things.json"), JSON.stringify({ openapi: "3.1.0", info, paths }));
    const scenario = join(folder, "things.yaml");
    const organizations = { a: { type: "bank", keys: { one: { environment: "test" } } } };
    writeFileSync(scenario, JSON.stringify({ version: 1, organizations, openapi: "things.json" }));
    const { page } = await openDashboard({ scenario });
    const missing = page.locator(".missing a");
    await missing.first().waitFor();
    expect(await missing.count()).toBe(8);
    await page.getByText(/^and \d+ more, dashed below$/).waitFor();
    await page.locator("a.exit-unmet", { hasText: "200.getThing29" }).waitFor();
  });

  test("rejections come first with their causes, and the button that fixes one", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    for (const ref of ["active", "wrong-scope", "organization-inactive"])
      await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
    const rejections = page.getByRole("list", { name: "Last rejections" });
    await rejections.getByText("with wrong-scope: needs attestations:read, has consents:read.").waitFor();
    expect(await page.getByText("No problems found.").count()).toBe(0);
    const topOf = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;
    expect(await topOf(".rejections")).toBeLessThan(await topOf(".missing"));
    await rejections.getByRole("button", { name: "Activate the organization" }).click();
    await expect
      .poll(async () => (await ask("/organizations/quillmeadow-insurance")).body.data.status)
      .toBe("active");
  });

  test("a client that got only failures has a problem, and nothing is next while a fault hits every request", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    await ask("/faults", { method: "PUT", json: { faults: [{ then: { status: 503 } }] } });
    await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret("active") } });
    await page.getByText("1 client request ended in a fault of this sandbox.").waitFor();
    await page.getByText("a fault changes the response to every request").waitFor();
    expect(await page.getByText("No problems found.").count()).toBe(0);
    expect(
      await page
        .locator(".next-path")
        .getByRole("button", { name: /Send|Copy/ })
        .count(),
    ).toBe(0);
    await page.locator(".next-path").getByRole("button", { name: "Turn the faults off" }).click();
    await page.locator(".next-path").getByRole("button", { name: "Send it now" }).waitFor();
    expect((await ask("/faults")).body.data).toEqual([]);
  });

  test("after a reset, which says that coverage stays, nothing leads to requests that are gone", async () => {
    const { page, server, go } = await openDashboard({ scenario: "key-states" });
    const headers = { "x-api-key": server.sandbox.secret("active") };
    await fetch(`${server.url}${mePath}?key=1`, { headers });
    const link = page.getByRole("link", { name: "Show 1 request" });
    await link.first().waitFor();
    await go("time");
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByText("The report stays").waitFor();
    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await go("overview/200.test");
    await page.locator(".advice").first().waitFor();
    await page.getByText("Client requests: 1.").waitFor();
    // The page reads the report again.
    await expect.poll(() => page.getByRole("link", { name: /^Show/ }).count()).toBe(0);
  });

  test("Copy as curl has the values of its variables, which a new shell lacks", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const { page, server } = await openDashboard({
      scenario: "key-states",
      view: "/overview/403.insufficient_scope",
      context,
    });
    const detail = page.getByRole("region", { name: "Outcome 403.insufficient_scope" });
    await detail.getByRole("button", { name: "Copy as curl" }).click();
    await detail.getByRole("button", { name: "Copied" }).waitFor();
    const line = await page.evaluate(() => navigator.clipboard.readText());
    expect(line).not.toContain("$");
    expect(line).toContain(server.sandbox.secret("wrong-scope"));
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { env: { PATH: process.env.PATH } });
    expect(stdout).toContain("insufficient_scope");
  });

  test("advice is one line until it is opened, and leads to its requests", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    const apiKey = server.sandbox.secret("active");
    await fetch(`${server.url}${mePath}?api_key=${apiKey}`);
    const advice = page.locator(".advice", { hasText: "key-in-query" });
    const { rule, whatToDo } = server.sandbox.report().advice.find(({ id }) => id === "key-in-query") ?? {};
    await advice.waitFor();
    expect(await advice.getByText(whatToDo as string).isVisible()).toBe(false);
    await advice.locator("summary").press("Enter");
    await advice.getByText(whatToDo as string).waitFor();
    await advice.getByText(`Rule: ${rule}`).waitFor();
    expect(await page.content()).not.toContain(apiKey);
    await advice.getByRole("link", { name: "1 request" }).click();
    await page.locator(".request-list tbody tr", { hasText: "key-in-query" }).waitFor();
    expect(await page.locator(".request-list tbody tr").count()).toBe(1);
  });

  test("counts the requests of clients, live", async () => {
    const { page, server } = await openDashboard({ scenario: "key-states" });
    const figure = page.locator("dl.facts div", { hasText: "Client requests" }).locator("dd");
    await figure.waitFor();
    const send = (ref: string) =>
      fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
    await send("active");
    await expect.poll(() => figure.innerText()).toBe("1");
    await page.getByRole("progressbar", { name: coverageText(1) }).waitFor();
    expect(await page.locator("a.exit-met code").allTextContents()).toEqual(["200.test"]);
    await send("revoked");
    await expect.poll(() => figure.innerText()).toBe("2");
  });
});
