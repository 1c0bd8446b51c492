import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
    await page.locator(".stage").nth(checks.length).waitFor();
    expect(await page.locator(".stage h3").allTextContents()).toEqual([
      "Incoming request",
      "faults",
      ...names,
      "passed",
    ]);
    const exits = checks.flatMap((check: { exits: string[] }) => check.exits);
    expect(await page.locator(".exits code").allTextContents()).toEqual([...faults, ...exits, ...successes]);
    expect(await page.locator("a.exit-met").count()).toBe(0);

    for (const ref of ["active", "active", "revoked"])
      await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
    await page.locator("a.exit-met", { hasText: "200.test" }).getByText("2 by clients").waitFor();
    await page.locator("a.exit-met", { hasText: "401.revoked" }).getByText("1 by clients").waitFor();
    expect(await page.locator("a.exit-met").count()).toBe(2);
    await page.getByRole("img", { name: coverageText(2) }).waitFor();
    expect(server.sandbox.report().coverage).toEqual(coverage(2));
  });

  test("an exit says how to meet it, and what is sent from there is on the map but not the client's; by keyboard", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    await page.locator("a.exit", { hasText: "401.expired" }).focus();
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#/overview/401.expired");
    const detail = page.getByRole("region", { name: "Outcome 401.expired" });
    await detail.getByText("send SVC_KEY_EXPIRED").waitFor();
    await detail.getByText('curl -H "x-api-key: $SVC_KEY_EXPIRED"').waitFor();
    // The address shows the same again.
    await page.reload();
    await settled(page);
    await detail.getByRole("button", { name: "Send it now" }).focus();
    await page.keyboard.press("Enter");
    await detail.getByText("Response: 401").waitFor();
    await page.locator("a.exit-by-story", { hasText: "401.expired" }).waitFor();
    const [sent] = (await ask("/requests")).body.data;
    expect(sent).toMatchObject({ key: "expired", path_id: "401.expired", source: "story" });
    expect(server.sandbox.report()).toMatchObject({ requests: 0, coverage: { met: 0 } });
    // A reload reads it from the journal.
    await page.reload();
    await page.locator("a.exit-by-story", { hasText: "401.expired" }).getByText("1 by the story").waitFor();
    await detail.getByRole("link", { name: "Show these requests" }).click();
    expect(new URL(page.url()).hash).toBe("#/requests?path=401.expired");
  });

  test("the response to the next path stays when another path is next; by keyboard", async () => {
    const { page } = await openDashboard({ scenario: "key-states" });
    const next = page.locator(".next-path");
    await next.getByRole("button", { name: "Send it now" }).waitFor();
    const before = await next.locator("p").first().textContent();
    await next.getByRole("button", { name: "Send it now" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      (text) => document.querySelector(".next-path p")?.textContent !== text,
      before,
    );
    await next.getByText("Response: ").waitFor();
    // Below the buttons, with the path that it belongs to.
    const sent = next.locator("output", { hasText: `Sent for ${before?.split(" ")[1]?.replace(/\.$/, "")}` });
    const [bar, response] = [await next.locator(".bar").first().boundingBox(), await sent.boundingBox()];
    expect(response?.y).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0));
  });

  test("shows eight paths that are not covered, and the others by endpoint", async () => {
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
    await page.getByText(/^\d+ more$/).click();
    const group = page.locator("details li", { hasText: "GET /v1/relying-party/things-29" });
    await group.getByRole("link", { name: "200.getThing29" }).waitFor();
  });

  test("a path of another scenario is met by starting that one, after a question", async () => {
    const { page, ask } = await openDashboard({ scenario: "key-states", view: "/overview/fault.status" });
    await page.getByRole("button", { name: "Start bad-day here, then send it" }).click();
    await page.getByRole("dialog").getByText("This discards all other changes since the start.").waitFor();
    expect((await ask("/health")).body.scenario).toBe("key-states");
    await page.getByRole("button", { name: "Send it", exact: true }).click();
    await page.locator("a.exit-by-story", { hasText: "fault.status" }).waitFor();
    expect((await ask("/health")).body.scenario).toBe("bad-day");
    expect((await ask("/requests?path_id=fault.status")).body.data).toHaveLength(1);
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
    await page.locator(".request-row", { hasText: "key-in-query" }).waitFor();
    expect(await page.locator(".request-row").count()).toBe(1);
  });

  test("counts the server's own requests, and those of instances apart with a way to them, live", async () => {
    const { page, server, ask } = await openDashboard({ scenario: "key-states" });
    const figure = page.locator("dl.facts div", { hasText: "Client requests" }).locator("dd");
    await figure.waitFor();
    const send = (url: string, ref: string) =>
      fetch(url + mePath, { headers: { "x-api-key": server.sandbox.secret(ref) } });
    for (const sent of [1, 2]) {
      const { base_url } = (await ask("/instances", { method: "POST" })).body.data;
      for (let times = 0; times <= sent; times++) await send(base_url, "revoked");
    }
    await page.getByText("0, and 5 in 2 instances").waitFor();
    await send(server.url, "active");
    await page.getByText("1, and 5 in 2 instances").waitFor();
    await page.getByRole("img", { name: coverageText(1) }).waitFor();
    expect(await page.locator("a.exit-met code").allTextContents()).toEqual(["200.test"]);
    expect(server.sandbox.report().requests).toBe(6);
    await figure.getByRole("link", { name: "2 instances" }).click();
    await page.getByText("2 instances").waitFor();
  });
});
