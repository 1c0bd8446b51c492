import { describe, expect, test } from "vitest";
import { presentNextStep, runNextStep } from "../../src/api/story/run-story.js";
import { nodePlatform } from "../../src/node/platform.js";
import type { Profile } from "../../src/rules/assumptions.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretsByRef } from "../../src/sandbox/secrets.js";
import { prepareStart, startSandbox } from "../../src/sandbox/start-sandbox.js";
import { allDifferences, type PlayedStep, type StoryStep } from "../../src/sandbox/steps.js";
import { type ScenarioName, scenarioNames } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { withStory } from "../../src/scenario/stories.js";

// Where the wall clock stands still, two tellings can be compared.
const platform = { ...nodePlatform, time: () => Date.UTC(2026, 0, 1) };

interface Told {
  readonly sandbox: SandboxState;
  readonly steps: readonly PlayedStep[];
}

const storyOf = (name: ScenarioName): readonly StoryStep[] => withStory(name).story ?? [];

function openStory(scenario: Scenario, { profile = "minimal" as Profile, seed = 1 } = {}): SandboxState {
  const options = { frozen: true, profile, seed };
  return startSandbox(prepareStart({ source: { scenario, name: "told" }, options, platform }));
}

function tellInCore(scenario: Scenario, options = {}): Told {
  const sandbox = openStory(scenario, options);
  const steps: PlayedStep[] = [];
  for (;;) {
    const told = runNextStep(sandbox);
    if (told === undefined) return { sandbox, steps };
    steps.push(told);
  }
}

const wrongSteps = ({ steps }: Told) =>
  steps
    .filter((step) => allDifferences(step).length > 0)
    .map((step) => [step.number, ...allDifferences(step)]);

describe.each(scenarioNames)("the story of %s", (name) => {
  const story = storyOf(name);

  test("expects something of every request, and of a 429 no code, which is an assumption", () => {
    const requests = story.filter(({ request }) => request !== undefined);
    expect(requests.filter((step) => step.expect?.outcome === undefined)).toEqual([]);
    const limited = requests.filter((step) => step.expect?.status === 429);
    expect(limited.filter((step) => step.expect?.code !== undefined)).toEqual([]);
  });

  test("passes for a presenter whose clock runs, with pauses before each step", async () => {
    let time = platform.time();
    const options = { frozen: false, profile: "minimal" } as const;
    const source = { scenario: withStory(name), name };
    const running = { ...platform, time: () => time };
    const sandbox = startSandbox(prepareStart({ source, options, platform: running }));
    const state = sandbox;
    time += 61_000;
    const steps: PlayedStep[] = [];
    for (;;) {
      time += 20_000;
      const told = presentNextStep(state);
      if (told === undefined) break;
      steps.push(told);
    }
    expect(wrongSteps({ sandbox, steps })).toEqual([]);
  });

  test("shows the key that a step makes once, and no key anywhere else (R34, R46)", async () => {
    const { sandbox, steps } = tellInCore(withStory(name));
    const made = steps.flatMap(({ performed }) => performed?.secret ?? []);
    for (const secret of made) expect(secret).toMatch(/^SVC_(test|live)_sbx\w{29}$/);
    const makers = steps.filter(
      ({ kind, performed }) => ["create_key", "rotate"].includes(kind) && performed?.error === null,
    );
    expect(made).toHaveLength(makers.length);
    const rest = JSON.stringify(
      steps.map((step) => ({ ...step, performed: step.performed && { ...step.performed, secret: null } })),
    );
    for (const secret of [...made, ...Object.values(secretsByRef(sandbox))]) {
      expect(rest.includes(secret)).toBe(false);
    }
    expect(rest).not.toMatch(/(SVC|legacysvc)_(test|live)_\w/);
    expect(rest).not.toContain("x-api-key");
  });
});

describe.each(["minimal", "typical", "varied"] as const)("with the profile %s", (profile) => {
  test.each(scenarioNames)("the story of %s passes with every seed", async (name) => {
    for (const seed of [1, 7, 42]) {
      expect(wrongSteps(tellInCore(withStory(name), { profile, seed }))).toEqual([]);
    }
  });
});
