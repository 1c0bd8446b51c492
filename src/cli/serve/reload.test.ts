import { expect, test } from "vitest";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { openWorld } from "../../node/platform.js";
import type { World } from "../../sandbox/world.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { createReload } from "./reload.js";

const loaded: LoadedScenario = { scenario: bundledScenarios.revoked, name: "a.yaml", files: ["/a.yaml"] };

/** A reload whose loads give these, one after the other, and what it did. */
function reloading(...loads: (() => LoadedScenario)[]) {
  const said: string[] = [];
  const exchanged: World[] = [];
  let world = openWorld(loaded.scenario);
  const say = (message: string) => said.push(message);
  const reload = createReload({
    loaded,
    load: async () => (loads.shift() as () => LoadedScenario)(),
    open: ({ scenario }) => openWorld(scenario),
    world: () => world,
    async exchange(start) {
      world = start();
      exchanged.push(world);
    },
    follow: async (files) => void say(`follow ${files.join(" ")}`),
    log: { note: say, problem: say, written: async () => {} },
    verbose: false,
  });
  return { reload, said, exchanged };
}

test("an unchanged scenario leaves the world as it is, and nothing is said", async () => {
  const { reload, said, exchanged } = reloading(() => ({
    ...loaded,
    scenario: structuredClone(loaded.scenario),
  }));
  await reload();
  expect([said, exchanged]).toEqual([[], []]);
});

test("files that the scenario is made of from now on are followed, also when it says the same", async () => {
  const { reload, said } = reloading(() => ({ ...loaded, files: ["/a.yaml", "/base.yaml"] }));
  await reload();
  expect(said).toEqual(["follow /a.yaml /base.yaml"]);
});

test("another seed is said to give other secrets", async () => {
  const { reload, said, exchanged } = reloading(() => ({
    ...loaded,
    scenario: { ...loaded.scenario, seed: 9 },
  }));
  await reload();
  expect(said).toEqual([expect.stringMatching(/^Loaded a\.yaml again: other secrets for .*revoked/)]);
  expect(exchanged).toHaveLength(1);
});

test("a load that fails is reported, and the next one goes on from the world that runs", async () => {
  const fail = () => {
    throw new Error("disk on fire: SVC_test_sbx123");
  };
  const { reload, said, exchanged } = reloading(fail, () => loaded);
  await Promise.all([reload(), reload()]);
  expect(said).toHaveLength(2);
  expect(said[1]).toBe("a.yaml is sound again, and the same as before: the world goes on.");
  expect(said[0]).toMatch(/disk on fire: SVC_test_…\n[\s\S]*\nThe scenario that was running goes on\.$/);
  expect(exchanged).toEqual([]);
});
