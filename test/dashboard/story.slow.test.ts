import { describe, expect, test } from "vitest";
import { authorizationChecks } from "../../src/api/authorize.js";
import { parseScenario, scenarioNames } from "../../src/index.js";
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
  test("a story starts from its scenario: the title says so, and the page asks first if clients have sent requests; after the end, Space does nothing", async () => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page, ask, send } = dashboard;
    await page.locator(".story-title", { hasText: "Rotation" }).waitFor();
    await page.getByText("This resets the sandbox").waitFor();
    await send(...Array<string>(70).fill("replacement"));
    await page.keyboard.press("Space");
    const question = page.getByRole("dialog", { name: "Reset the sandbox for the story?" });
    await question.getByText("This discards the requests").waitFor();
    expect(await doneOn(dashboard)).toBe(0);
    await question.getByRole("button", { name: "Reset and continue" }).click();
    await page.getByText("Step 1 of 25").waitFor();
    await page.getByRole("button", { name: "Next step" }).focus();
    for (let step = 2; step <= 25; step++) {
      await page.keyboard.press("Space");
      await page.getByText(`Step ${step} of 25`).waitFor();
    }
    await page.keyboard.press("Space");
    await page.keyboard.press("Space");
    await page.locator(":focus", { hasText: "Next step" }).waitFor();
    expect(await doneOn(dashboard)).toBe(25);
    const { outline } = (await ask("/story")).body.data;
    expect(outline.filter((step: { as_expected: boolean | null }) => step.as_expected === false)).toEqual([]);
  });

  test.each([
    ["POST", "/keys", { organization: "amberfield-mutual", environment: "test", name: "CI" }],
    ["PUT", "/faults", { faults: [{ then: { status: 503 } }] }],
    ["PUT", "/faults", { faults: [] }],
    ["POST", "/clock/advance", { by: "1m" }],
  ] as const)("the start asks before it discards what %s %s changed", async (method, path, json) => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page, ask } = dashboard;
    await page.getByText("Press Space to start.").waitFor();
    expect((await ask(path, { method, json })).status).toBeLessThan(300);
    await page.keyboard.press("Space");
    await page.getByRole("dialog", { name: "Reset the sandbox for the story?" }).waitFor();
    expect(await doneOn(dashboard)).toBe(0);
  });

  test("one press of Space or an arrow is one step however fast, and the left arrow replays up to the step before", async () => {
    const dashboard = await openDashboard({ scenario: "rotation", view: "/story" });
    const { page, ask } = dashboard;
    await page.getByText("Press Space to start.").waitFor();
    // Without a pause between them; held down, a key does not tell the whole story.
    await page.evaluate(() => {
      for (let press = 0; press < 6; press++) {
        dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      }
      for (let press = 0; press < 3; press++) {
        dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", repeat: true }));
      }
    });
    await page.getByText("Step 6 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(6);
    await page.keyboard.press("Control+ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.getByText("Step 5 of 25").waitFor();
    expect((await ask("/story")).body.data.last.number).toBe(5);
    // Space presses what has the focus.
    await page.getByRole("button", { name: "Back" }).focus();
    await page.keyboard.press("Space");
    await page.getByText("Step 4 of 25").waitFor();
    expect(await doneOn(dashboard)).toBe(4);
  });

  test("Back runs the steps before again, of which the audience sees only the last one", async () => {
    const { page } = await openDashboard({ scenario: "rotation", view: "/story" });
    for (let step = 1; step <= 6; step++) {
      await page.keyboard.press("Space");
      await page.getByText(`Step ${step} of 25`).waitFor();
    }
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const text = document.querySelector(".steps")?.textContent ?? "";
        if (seen.at(-1) !== text) seen.push(text);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await page.keyboard.press("ArrowLeft");
    await page.getByText("Step 5 of 25").waitFor();
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen); // set above
    // A drawing before the steps run shows the old one.
    expect(seen.filter((text) => !/^Step [56] of 25$/.test(text))).toEqual([]);
  });

  test("a replay sends its first step once the sandbox is reset", async () => {
    const { page } = await openDashboard({ scenario: "rotation", view: "/story" });
    for (const step of [1, 2]) {
      await page.keyboard.press("Space");
      await page.getByText(`Step ${step} of 25`).waitFor();
    }
    const changes: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") changes.push(request.url().replace(/.*__sandbox/, ""));
    });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/reset", (route) => released.then(() => route.continue()));
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => changes).toContain("/reset");
    // What does not wait is sent at the same time.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(changes).toEqual(["/reset"]);
    release();
    await page.getByText("Step 1 of 25").waitFor();
    expect(changes).toEqual(["/reset", "/story/next"]);
  });

  test("a request is shown with its response, its way through the request checks and the verdict", async () => {
    const dashboard = await openDashboard({ scenario, view: "/story" });
    const { page } = dashboard;
    await tell(dashboard, 2);
    const request = page.getByRole("region", { name: "The request" });
    for (const text of ["POST /v1/nothing", "with the key main", "x-trace", "abc", '"a": 1']) {
      await request.getByText(text).waitFor();
    }
    await page.getByRole("region", { name: "The response" }).getByText("404 not_found").waitFor();
    const requestChecks = page.getByRole("list", { name: "Request checks" });
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

  test("operations, what the timeline did meanwhile and what is not as expected are told, also after a reload", async () => {
    const dashboard = await openDashboard({ scenario, view: "/story" });
    const { page, ask } = dashboard;
    await tell(dashboard, 3);
    await page.getByText(/rotate main, .*→ next/).waitFor();
    await tell(dashboard, 4);
    await page.getByText("→ rejected: not_an_administrator").waitFor();
    await tell(dashboard, 5);
    await page.getByText("20m later: 09:20 on 2 March 2026").waitFor();
    await page.getByText("revoke main").waitFor();
    await tell(dashboard, 6);
    const seen = async () => {
      await page.getByText("Not as expected:").waitFor();
      await page.getByText("expected 200, found 401").waitFor();
      await page.getByText("with the key main, 2 times").waitFor();
    };
    await seen();
    expect((await ask("/story")).body.data.outline.at(5).as_expected).toBe(false);
    await page.reload();
    await settled(page);
    await seen();
    await page.getByText("✗ 1 step not as expected").waitFor();
  });

  test("a scenario without a story shows how to write one, and leads to others", async () => {
    const bare = parseScenario(
      "version: 1\norganizations:\n  a-bank: { type: bank, keys: { one: { environment: test } } }\n",
    );
    const { page } = await openDashboard({ scenario: bare, view: "/story" });
    await page.getByRole("link", { name: "write one" }).waitFor();
    await page.keyboard.press("Space");
    await page.getByRole("link", { name: "Load a scenario that has one" }).press("Enter");
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
    // A step that expects nothing has no verdict.
    expect(await page.getByText("✓ As expected").count()).toBe(0);
    await page.keyboard.press("Space");
    await page.getByText("This step cannot run:").waitFor();
    await page.getByRole("alert").waitFor();
    expect((await ask("/story")).body.data).toMatchObject({ done: 2, outline: [{}, { as_expected: false }] });
  });

  test("at 1280 by 720 the usual 200 is whole, with the lifelines and without; a remote's keys run steps", async () => {
    const context = { viewport: { width: 1280, height: 720 } };
    const { page } = await openDashboard({ scenario: "rotation", view: "/story", context });
    await page.getByText("Press Space to start.").waitFor();
    await page.keyboard.press("PageDown");
    await page.getByText("Step 1 of 25").waitFor();
    await page.keyboard.press("PageDown");
    await page.getByText("Step 2 of 25").waitFor();
    const code = page.locator(".response pre");
    await code.getByText('"usage"').waitFor();
    const hidden = () => code.evaluate((element) => element.scrollHeight - element.clientHeight);
    expect(await hidden()).toBe(0);
    await page.keyboard.press("l");
    await page.locator(".lifelines-picture").waitFor();
    expect(await hidden()).toBe(0);
    await page.keyboard.press("PageUp");
    await page.getByText("Step 1 of 25").waitFor();
  });

  test.each(scenarioNames)(
    "at 1280 by 720 each step of %s fits: only its body scrolls, in its box",
    async (name) => {
      const context = { viewport: { width: 1280, height: 720 } };
      const { page, ask } = await openDashboard({ scenario: name, view: "/story", context });
      await page.getByText("Press Space to start.").waitFor();
      const { steps } = (await ask("/story")).body.data;
      for (let step = 1; step <= steps; step++) {
        await page.keyboard.press("Space");
        await page.getByText(`Step ${step} of ${steps}`).waitFor();
        const ends = await page.evaluate(() => {
          const stage = document.querySelector(".story-stage");
          const bottoms = [...(stage?.children ?? [])].map((part) => part.getBoundingClientRect().bottom);
          return [
            ...bottoms,
            document.documentElement.scrollHeight,
            stage?.scrollWidth === stage?.clientWidth ? 0 : 9999,
          ];
        });
        expect(Math.max(...ends), `step ${step}`).toBeLessThanOrEqual(720);
      }
    },
  );
});
