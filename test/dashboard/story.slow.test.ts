import { describe, expect, test } from "vitest";
import { parseScenario, scenarioNames } from "../../src/index.js";
import { authorizationChecks } from "../../src/rules/authorize.js";
import { noBrowser } from "../support/chromium-page.js";
import { type Dashboard, openDashboard, settled } from "./open-dashboard.js";

const scenario = parseScenario(`
version: 1
name: Told
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  harvest-bank: { type: bank, keys: { main: { environment: test } } }
timeline:
  - { at: 10m, revoke: { key: main } }
story:
  - say: A bank calls the API.
  - request: { key: main, method: POST, path: /v1/nothing, headers: { X-Trace: abc }, body: { a: 1 } }
    expect: { status: 404 }
  - rotate: { key: main, as: next, overlap: 30m }
  - revoke: { key: next, actor: member }
    expect: { error: not_an_administrator }
  - advance: 20m
  - request: { key: main, repeat: 2 }
    expect: { status: 200 }
`);

/** Runs steps until so many are done, and waits until the page shows the last one. */
async function tell({ page, ask }: Dashboard, count: number) {
  for (;;) {
    const { done } = (await ask("/story")).body.data;
    if (done >= count) break;
    await ask("/story/next", { method: "POST", json: {} });
  }
  await page.getByText(`Step ${count} of`, { exact: false }).waitFor();
}

const doneOn = async ({ ask }: Dashboard) => (await ask("/story")).body.data.done as number;

describe.skipIf(noBrowser)("the view of the story", () => {
  test("keys of presenters and of their clickers run one step each, and R starts again after a question", async () => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page, ask } = dashboard;
    await page.getByText("Press Space for the first step.").waitFor();
    // Before the story the audience sees what it is about.
    await page.locator(".story-title", { hasText: "Rotation" }).waitFor();
    await page.getByText("An insurer replaces a key without stopping its system.").first().waitFor();
    for (const [index, key] of ["Space", "ArrowRight", "PageDown"].entries()) {
      await page.keyboard.press(key);
      await page.getByText(`Step ${index + 1} of 25`).waitFor();
      expect(await doneOn(dashboard)).toBe(index + 1);
    }
    // Held down, a key does not tell the whole story.
    for (let held = 0; held < 4; held++) await page.keyboard.down("ArrowRight");
    await page.keyboard.up("ArrowRight");
    await page.getByText("Step 4 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(4);
    await page.keyboard.press("Control+ArrowRight");
    await page.keyboard.press("r");
    const question = page.getByRole("dialog", { name: "Start the story again?" });
    await question.getByText(/This discards \d+ requests? and /).waitFor();
    expect(await doneOn(dashboard)).toBe(4);
    await question.getByRole("button", { name: "Start again" }).press("Enter");
    await page.getByText("Press Space for the first step.").waitFor();
    expect((await ask("/story")).body.data).toMatchObject({ done: 0, last: null });
    // Space presses what has the focus.
    await page.getByRole("button", { name: "Next step" }).focus();
    await page.keyboard.press("Space");
    await page.getByText("Step 1 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(1);
  });

  test("one press is one step however fast, and ArrowLeft goes back by a replay from the start", async () => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page, ask, server } = dashboard;
    await page.getByText("Press Space for the first step.").waitFor();
    // Without a pause between them.
    await page.evaluate(() => {
      for (let press = 0; press < 6; press++)
        dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    });
    await page.getByText("Step 6 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(6);
    await page.keyboard.press("ArrowLeft");
    await page.getByText("Replayed from the start, up to step 5.").waitFor();
    await page.keyboard.press("PageUp");
    await page.getByText("Replayed from the start, up to step 4.").waitFor();
    expect((await ask("/story")).body.data.last.number).toBe(4);
    await page.keyboard.press("ArrowRight");
    await page.getByText("Step 5 of 25").waitFor();
    expect(await page.getByText("Replayed from the start").count()).toBe(0);
    // A client's request would be lost.
    await fetch(`${server.url}/v1/relying-party/me`);
    await page.getByRole("link", { name: "Requests" }).click();
    await page.locator(".request-list tbody tr", { hasText: "401.missing" }).waitFor();
    await dashboard.go("story");
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("dialog", { name: "Replay the story" }).waitFor();
    expect(await doneOn(dashboard)).toBe(5);
    await page.getByRole("button", { name: "Replay it" }).click();
    await page.getByText("Step 4 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(4);
  });

  test("a request is shown with its response, its way through the request checks and the verdict", async () => {
    const dashboard = await openDashboard({ scenario, view: "/story" });
    const { page } = dashboard;
    await tell(dashboard, 2);
    const request = page.getByRole("region", { name: "The request" });
    for (const text of ["POST /v1/nothing", "with the key main", "x-trace", "abc", '{ "a": 1 }'])
      await request.getByText(text).waitFor();
    await page.getByRole("region", { name: "The response" }).getByText("404 not_found").waitFor();
    const requestChecks = page.getByRole("region", { name: "Request checks" });
    expect(await requestChecks.getByRole("listitem").allTextContents()).toEqual([
      "✗ path: rejected",
      ...[{ name: "method" }, ...authorizationChecks].map(({ name }) => `${name}: not reached`),
    ]);
    await page.getByRole("region", { name: "The response" }).getByText("404.unknown_path").waitFor();
    await page.getByText("✓ As expected").waitFor();
    // The request is one line above its response, and the narration has left with its step.
    const tops = async (name: string) => (await page.getByRole("region", { name }).boundingBox())?.y ?? 0;
    expect(await tops("The request")).toBeLessThan(await tops("The response"));
    expect(await page.locator(".story-stage").getByText("A bank calls the API.").count()).toBe(0);
  });

  test("only steps that have run are listed, the title is the scenario's name, and a slide ends the story", async () => {
    const dashboard = await openDashboard({ scenario, view: "/story" });
    const { page } = dashboard;
    await page.locator(".story-title", { hasText: "Told" }).waitFor();
    expect(await page.locator(".story-outline li").count()).toBe(0);
    await tell(dashboard, 2);
    expect(await page.locator(".story-outline li").count()).toBe(2);
    await tell(dashboard, 6);
    await page.getByText("This was the last step.").waitFor();
    await page.keyboard.press("Space");
    await page.getByText("The end. 6 steps.").waitFor();
    await page.getByText("✗ 1 step not as expected.").waitFor();
    expect(await page.getByRole("button", { name: "Next step" }).isDisabled()).toBe(true);
    await page.keyboard.press("ArrowLeft");
    await page.getByText("This was the last step.").waitFor();
  });

  test("at 1280 by 720 a 200 fits with its body, in type that is read from the back of a room", async () => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page } = dashboard;
    await page.setViewportSize({ width: 1280, height: 720 });
    await tell(dashboard, 3);
    const parts = page.locator(".story-stage :is(p, pre, li), .story-outline li");
    await page.locator(".story-stage .strip").waitFor();
    const boxes = await parts.evaluateAll((all) =>
      all.map((one) => ({
        bottom: one.getBoundingClientRect().bottom,
        size: Number.parseFloat(getComputedStyle(one).fontSize),
      })),
    );
    expect(Math.max(...boxes.map(({ bottom }) => bottom))).toBeLessThanOrEqual(720);
    expect(Math.min(...boxes.map(({ size }) => size))).toBeGreaterThanOrEqual(17);
  });

  test("operations, what the timeline did meanwhile and what is not as expected are told, also after a reload", async () => {
    const dashboard = await openDashboard({ scenario, view: "/story" });
    const { page, ask } = dashboard;
    await tell(dashboard, 3);
    const rotated =
      "An administrator rotates the key main. The new key is next; the old one works for 30 more minutes.";
    await page.getByText(rotated).waitFor();
    await tell(dashboard, 4);
    await page.getByText("tries to revoke the key next. It is rejected: not_an_administrator.").waitFor();
    await tell(dashboard, 5);
    await page.getByText("20 minutes pass: it is 09:20 on 2 March 2026.").waitFor();
    await page.getByText("An administrator revokes the key main.").waitFor();
    await tell(dashboard, 6);
    const seen = async () => {
      await page.getByText("Not as expected:").waitFor();
      await page.getByText("expected 200, found 401").waitFor();
      await page.getByText("with the key main, 2 times").waitFor();
      return page.locator(".story-outline li").allTextContents();
    };
    const outline = await seen();
    expect(outline.at(1)).toContain("(as expected)");
    expect(outline.at(5)).toBe("✗request with main, 2 times (unexpected)");
    expect((await ask("/story")).body.data.outline.at(5).as_expected).toBe(false);
    await page.reload();
    await settled(page);
    expect(await seen()).toEqual(outline);
  });

  test("F fills the screen with the story, and so does its button", async () => {
    const { page } = await openDashboard({ scenario, view: "/story" });
    const filled = () => page.evaluate(() => document.fullscreenElement?.className ?? null);
    await page.getByText("Press Space for the first step.").waitFor();
    await page.keyboard.press("f");
    await expect.poll(filled).toBe("story");
    await page.keyboard.press("Space");
    await page.locator(".story-stage").getByText("A bank calls the API.").waitFor();
    await page.getByText("Step 1 of 6").waitFor();
    // Only the progress and the step are drawn.
    const clips = await page
      .locator(".story-progress, .story-buttons, .story-outline")
      .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).clipPath));
    expect(clips).toEqual(["none", "inset(50%)", "inset(50%)"]);
    await page.keyboard.press("f");
    await expect.poll(filled).toBeNull();
    await page.getByRole("button", { name: "Full screen" }).click();
    await expect.poll(filled).toBe("story");
    await page.keyboard.press("f");
    await expect.poll(filled).toBeNull();
  });

  test("a scenario without a story shows how to write one, and leads to others", async () => {
    const bare = parseScenario(
      "version: 1\norganizations:\n  a-bank: { type: bank, keys: { one: { environment: test } } }\n",
    );
    const { page } = await openDashboard({ scenario: bare, view: "/story" });
    await page.getByRole("link", { name: "Write one" }).waitFor();
    await page.keyboard.press("Space");
    await page.getByRole("link", { name: "load a bundled scenario" }).press("Enter");
    await page.getByRole("button", { name: "Load rotation" }).waitFor();
  });

  test("a fault that hits a request is told, and a step that cannot run says why", async () => {
    const faulty = parseScenario(`
version: 1
organizations:
  a-bank: { type: bank, keys: { one: { environment: test } } }
faults:
  - { when: { key: one }, then: { reset: true } }
story:
  - request: { key: one }
  - advance: 3000000d
`);
    const dashboard = await openDashboard({ scenario: faulty, view: "/story" });
    const { page, ask } = dashboard;
    await tell(dashboard, 1);
    await page.getByText("No response").waitFor();
    await page.getByText("A fault hit the request before the checks.").waitFor();
    // A step that expects nothing has no verdict.
    expect(await page.getByText("✓ As expected").count()).toBe(0);
    expect(await page.locator(".story-outline li").textContent()).toBe("·request with one (done)");
    await page.keyboard.press("Space");
    await page.getByText("This step cannot run:").waitFor();
    await page.getByRole("alert").waitFor();
    expect((await ask("/story")).body.data).toMatchObject({ done: 2, outline: [{}, { as_expected: false }] });
  });

  test.each(scenarioNames)(
    "at 1280 by 720 the current step of %s is in sight on each screen",
    async (name) => {
      const context = { viewport: { width: 1280, height: 720 } };
      const { page, ask } = await openDashboard({ scenario: name, view: "/story", context });
      await page.getByText("Press Space for the first step.").waitFor();
      const { steps } = (await ask("/story")).body.data;
      for (let step = 1; step <= steps; step++) {
        await page.keyboard.press("Space");
        await page.getByText(`Step ${step} of ${steps}`).waitFor();
        const current = page.locator(".story-outline [aria-current]");
        await expect
          .poll(async () => {
            const { y = -1, height = 0 } = (await current.boundingBox()) ?? {};
            return y >= 0 && y + height <= 720;
          })
          .toBe(true);
      }
    },
  );
});
