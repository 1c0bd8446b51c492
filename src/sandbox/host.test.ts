import { expect, test } from "vitest";
import { handle } from "../api/handle.js";
import { openWorld } from "../node/open-world.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { createHost } from "./host.js";

const open = (name: "active" | "revoked") => () => openWorld(bundledScenarios[name], { name });
const request = { method: "GET", path: "/nothing", apiKey: undefined };

test("an exchange takes effect at once, and reset starts the last one again", () => {
  const host = createHost(open("active"));
  host.exchange(open("revoked"));
  const revoked = host.world();
  expect(revoked.name).toBe("revoked");
  host.reset();
  expect(host.world().name).toBe("revoked");
  expect(host.world()).not.toBe(revoked);
});

test("a world that fails to start leaves the old one in place, also for reset", () => {
  const host = createHost(open("active"));
  const before = host.world();
  const fail = () => {
    throw new Error("no world");
  };
  expect(() => host.exchange(fail)).toThrow("no world");
  expect(host.world()).toBe(before);
  host.reset();
  expect(host.world().name).toBe("active");
});

test("a subscriber hears what happens in every world until it stops", () => {
  const host = createHost(open("active"));
  const heard: string[] = [];
  const stop = host.subscribe(({ type }) => heard.push(type));
  handle(host.world(), request);
  host.exchange(open("revoked"));
  handle(host.world(), request);
  stop();
  handle(host.world(), request);
  expect(heard).toEqual(["request", "world.started", "request"]);
});
