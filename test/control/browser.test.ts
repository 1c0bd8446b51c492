import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChromiumPage, noBrowser, openPage } from "../support/chromium-page.js";
import { expectUnchanged, serveControl } from "./client.js";

/** What a page of another origin tries; runs in the page. Answers what it has come to know. */
async function attack([url, secretWord]: readonly [string, string]): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  const settled = async (name: string, work: () => Promise<unknown>) => {
    told[name] = await work().then(String, (error: Error) => `refused: ${error.name}`);
  };
  const read = async (init?: RequestInit, path = "/state") => {
    const response = await fetch(url + path, init);
    return `${response.type} ${response.status} ${await response.text()}`;
  };
  const json = { "content-type": "application/json" };
  const event = (target: EventTarget, ...names: string[]) =>
    new Promise<string>((resolve) => {
      for (const name of names) target.addEventListener(name, () => resolve(name), { once: true });
    });

  await settled("get with cors", () => read());
  await settled("get without cors", () => read({ mode: "no-cors" }));
  await settled("post of text", () =>
    read({ method: "POST", mode: "no-cors", body: '{"by":"1h"}' }, "/clock/advance"),
  );
  await settled("post of nothing", () => read({ method: "POST", mode: "no-cors" }, "/reset"));
  await settled("post of json", () => read({ method: "POST", headers: json, body: "{}" }, "/reset"));
  await settled("delete", () => read({ method: "DELETE" }, "/requests"));
  await settled("beacon", async () => navigator.sendBeacon(`${url}/reset`, "x"));
  await settled("events", async () => {
    const source = new EventSource(`${url}/events`);
    const happened = await event(source, "open", "message", "error");
    source.close();
    return happened;
  });
  await settled("web socket", async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/events`);
    return event(socket, "open", "message", "error");
  });
  for (const [tag, to] of [
    ["img", { src: `${url}/state` }],
    ["script", { src: `${url}/state` }],
    ["link", { rel: "stylesheet", href: `${url}/state` }],
  ] as const) {
    await settled(tag, async () => {
      const element = Object.assign(document.createElement(tag), to);
      const happened = event(element, "load", "error");
      document.body.append(element);
      return happened;
    });
  }
  const framed = async (target: string, load: (frame: HTMLIFrameElement) => void) => {
    const frame = Object.assign(document.createElement("iframe"), { name: target });
    document.body.append(frame);
    const happened = event(frame, "load", "error");
    load(frame);
    await happened;
    return String(frame.contentDocument?.body?.textContent?.includes(secretWord) ?? "nothing to read");
  };
  for (const enctype of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: `${url}/clock/advance`, enctype, target: url + enctype });
    form.append(Object.assign(document.createElement("input"), { name: '{"by":"1h","x":"', value: '"}' }));
    document.body.append(form);
    await settled(`form of ${enctype}`, () => framed(url + enctype, () => form.submit()));
  }
  await settled("frame", () =>
    framed("", (frame) => {
      frame.src = `${url}/`;
    }),
  );
  return told;
}

/** The statuses with which this process answered browsers below a path while something was done. */
async function statusesWhile(path: string, work: () => Promise<void>): Promise<number[]> {
  const answers: ServerResponse[] = [];
  const note = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.headers["user-agent"] !== undefined && request.url?.startsWith(path)) answers.push(response);
  };
  subscribe("http.server.request.start", note);
  await work();
  unsubscribe("http.server.request.start", note);
  return answers.map(({ statusCode }) => statusCode);
}

const each = (value: string, ...names: string[]) => Object.fromEntries(names.map((name) => [name, value]));

describe.skipIf(noBrowser)("a page in a browser", () => {
  let browser: ChromiumPage;
  beforeAll(async () => {
    browser = await openPage(join(import.meta.dirname, "attacker-page.js"));
  });
  afterAll(() => browser?.close());

  test.each([
    ["another port of this machine", "127.0.0.1"],
    ["another name of this machine", "localhost"],
  ])("of %s neither reads nor writes, whatever it tries", async (_where, from) => {
    const control = await serveControl();
    const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
    const { page } = browser;
    await page.goto(page.url().replace(/127\.0\.0\.1|localhost/, from));
    for (const base of ["", `/i/${id}`]) {
      const url = `${control.server.url}${base}/__sandbox`;
      let told: Record<string, string> = {};
      const statuses = await statusesWhile(`${base}/__sandbox`, () =>
        expectUnchanged(control, async () => {
          told = await page.evaluate(attack, [url, "harvest-bank"] as const);
        }),
      );
      expect(told).toEqual({
        ...each("refused: TypeError", "get with cors", "post of json", "delete"),
        ...each("opaque 0 ", "get without cors", "post of text", "post of nothing"),
        ...each("error", "events", "web socket", "img", "script", "link"),
        ...each("nothing to read", "frame", "form of application/x-www-form-urlencoded"),
        ...each("nothing to read", "form of text/plain", "form of multipart/form-data"),
        // Sent, whatever comes of it.
        beacon: "true",
      });
      expect(statuses.length).toBeGreaterThanOrEqual(Object.keys(told).length);
      expect(new Set(statuses)).toEqual(new Set([403]));
    }
  });

  test("of the server's own origin reads and writes", async () => {
    const { server, ask } = await serveControl();
    const { page } = browser;
    await page.goto(`${server.controlUrl}/`);
    expect(await page.textContent("h1")).toBe("Overview");
    const statuses = await page.evaluate(async () => {
      const json = { "content-type": "application/json" };
      const asked = [
        await fetch("/__sandbox/state"),
        await fetch("/__sandbox/clock/advance", { method: "POST", headers: json, body: '{"by":"1h"}' }),
      ];
      const source = new EventSource("/__sandbox/events");
      const opened = await new Promise((resolve) => {
        source.onopen = () => resolve(true);
        source.onerror = () => resolve(false);
      });
      source.close();
      return [...asked.map(({ status }) => status), opened];
    });
    expect(statuses).toEqual([200, 200, true]);
    expect((await ask("/clock")).body.data.now).toBe("2026-03-02T10:00:00.000Z");
  });
});

if (noBrowser) test.skip(`the browser is left out: ${noBrowser}`);
