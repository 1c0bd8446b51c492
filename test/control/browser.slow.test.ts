import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { noBrowser, openPage } from "../support/chromium-page.js";
import { expectUnchanged, serveControl } from "./client.js";

/** What a page of another origin tries; runs in the page. Returns how each attempt ended. */
async function attack(url: string): Promise<Record<string, string>> {
  const ended: Record<string, string> = {};
  const read = async (path: string, init: RequestInit) => {
    const response = await fetch(url + path, init).catch((error: Error) => error.name);
    return typeof response === "string" ? response : `${response.type} ${await response.text()}`;
  };
  const event = (target: EventTarget) =>
    new Promise<string>((resolve) => {
      for (const name of ["load", "open", "error"]) target.addEventListener(name, () => resolve(name));
    });
  ended.read = await read("/state", {});
  ended.opaque = await read("/clock/advance", { method: "POST", mode: "no-cors", body: '{"by":"1h"}' });
  ended.preflight = await read("/requests", { method: "DELETE" });
  ended.events = await event(new EventSource(`${url}/revision`));
  ended.socket = await event(new WebSocket(`${url.replace("http", "ws")}/revision`));
  const script = Object.assign(document.createElement("script"), { src: `${url}/state` });
  const frame = Object.assign(document.createElement("iframe"), { name: "frame" });
  for (const element of [script, frame]) {
    const happened = event(element);
    document.body.append(element);
    if (element === script) ended.script = await happened;
  }
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${url}/reset`, enctype: "text/plain", target: "frame" });
  document.body.append(form);
  const sent = event(frame);
  form.submit();
  await sent;
  return ended;
}

test.skipIf(noBrowser)("a page of another name of this machine neither reads nor writes", async () => {
  const { page, close } = await openPage(join(import.meta.dirname, "attacker-page.js"));
  onTestFinished(close);
  const control = await serveControl();
  await page.goto(page.url().replace("127.0.0.1", "localhost"));
  await expectUnchanged(control, async () => {
    expect(await page.evaluate(attack, control.server.controlUrl as string)).toEqual({
      ...{ read: "TypeError", preflight: "TypeError", opaque: "opaque " },
      ...{ events: "error", socket: "error", script: "error" },
    });
  });
});

test.skipIf(noBrowser)("a click on a link of another origin opens the page", async () => {
  const { page, close } = await openPage(join(import.meta.dirname, "attacker-page.js"));
  onTestFinished(close);
  const { server } = await serveControl();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  await page.goto(page.url().replace("127.0.0.1", "localhost"));
  await page.evaluate((url) => {
    document.body.append(Object.assign(document.createElement("a"), { href: `${url}/#/keys`, text: "open" }));
  }, server.controlUrl as string);
  await page.getByText("open").click();
  await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  expect(problems).toEqual([]);
});

if (noBrowser) test.skip(`the browser is left out: ${noBrowser}`);
