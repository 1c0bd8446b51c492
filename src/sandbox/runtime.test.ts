import { expect, test } from "vitest";
import { handle } from "../api/handle.js";
import { openWorld } from "../node/platform.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { createRuntime } from "./runtime.js";

const open = (name: "active" | "revoked") => () => openWorld(bundledScenarios[name], { name });
const request = { method: "GET", path: "/nothing", apiKey: undefined };

test("an exchange takes effect at once, and reset starts the last one again", () => {
  const runtime = createRuntime(open("active"));
  runtime.exchange(open("revoked"));
  const revoked = runtime.world();
  expect(revoked.name).toBe("revoked");
  runtime.reset();
  expect(runtime.world().name).toBe("revoked");
  expect(runtime.world()).not.toBe(revoked);
});

test("a world that fails to start leaves the old one in place, also for reset", () => {
  const runtime = createRuntime(open("active"));
  const before = runtime.world();
  const fail = () => {
    throw new Error("no world");
  };
  expect(() => runtime.exchange(fail)).toThrow("no world");
  expect(runtime.world()).toBe(before);
  runtime.reset();
  expect(runtime.world().name).toBe("active");
});

test("a subscriber hears what happens in every world until it stops", () => {
  const runtime = createRuntime(open("active"));
  const heard: string[] = [];
  const stop = runtime.subscribe(({ type }) => heard.push(type));
  handle(runtime.world(), request);
  runtime.exchange(open("revoked"));
  handle(runtime.world(), request);
  stop();
  handle(runtime.world(), request);
  expect(heard).toEqual(["request", "world.started", "request"]);
});
