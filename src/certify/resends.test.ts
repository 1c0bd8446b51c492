import { expect, test } from "vitest";
import { type Followed, shownBy } from "./resends.js";
import type { ClientRun, KeyRequest } from "./run.js";

const request = {} as Partial<KeyRequest> as KeyRequest;
const followedBy: Readonly<Record<string, Followed>> = {
  nothing: { kind: "nothing", run: {} as Partial<ClientRun> as ClientRun },
  waits: { kind: "in_time", request },
  resends: { kind: "resent", request },
};

/** What runs show that end like this, by the first letters of what followed: `n`, `w`, `r`. */
const shown = (runs: string, minima: Parameters<typeof shownBy>[1] = { waits: 2, silent: 1 }) =>
  shownBy(
    [...runs].map(
      (letter) => Object.entries(followedBy).find(([word]) => word.startsWith(letter))?.[1] as Followed,
    ),
    minima,
  );

test.each([
  ["n", "held"],
  ["w", undefined],
  ["ww", "held"],
  ["r", undefined],
  ["rr", "resent"],
  ["wrr", "resent"],
  ["rwr", "resent"],
  ["rwww", undefined],
  ["rwwww", "sometimes"],
  ["wwwwr", "sometimes"],
])("what follows in runs %s shows: %s", (runs, expected) => {
  expect(shown(runs)).toBe(expected);
});

test.each(["rn", "wn"])("a run that sent more forbids that a later one holds: %s", (runs) => {
  expect(shown(runs)).toBe("sometimes");
});

test("a kind with a time that is tried alone takes three waits", () => {
  expect(shown("ww", { waits: 3, silent: 1 })).toBeUndefined();
  expect(shown("www", { waits: 3, silent: 1 })).toBe("held");
});

test("a failure that must come twice holds after two runs", () => {
  expect(shown("n", { waits: 2, silent: 2 })).toBeUndefined();
  expect(shown("nn", { waits: 2, silent: 2 })).toBe("held");
  expect(shown("nr", { waits: 2, silent: 2 })).toBe("sometimes");
});
