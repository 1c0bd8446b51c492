import { expect, test } from "vitest";
import { problemsOf } from "./support/problems-of.js";

const head = `version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  bank:
    type: bank
    live_access: approved
    keys:
      active: { environment: test }
      other: { environment: test }
      live: { environment: live }
      gone: { environment: test, state: revoked }
`;

/** What looks as if it could not come true, and can. */
const possible: Readonly<Record<string, string>> = {
  "a timeline that revokes a key which the story rotates: one does not know of the other": `timeline:
  - { at: 10m, revoke: { key: active } }
story:
  - rotate: { key: active, as: active-2, overlap: 60m }
  - advance: 61m
  - request: { key: active }
    expect: { status: 401, path: 401.rotated }`,
  "a timeline and a story that make a key with the same ref": `timeline:
  - { at: 1h, rotate: { key: active, as: active-2 } }
story:
  - rotate: { key: active, as: active-2 }`,
  "a step of a timeline that may come too late": `timeline:
  - { at: 10m, revoke: { key: active } }
  - { at: 20m, rotate: { key: active } }`,
  "what is refused, as the step says": `timeline:
  - { at: 10m, revoke: { key: gone }, expect: { error: key_not_active } }
story:
  - rotate: { key: gone }
    expect: { error: key_not_active }
  - create_key: { organization: bank, environment: test, name: CI, ref: active }
    expect: { error: name_taken }
  - revoke: { key: active }
  - revoke: { key: active }
    expect: { error: key_not_active }`,
  "what a member may not do, and so has not done": `story:
  - revoke: { key: active, actor: member }
    expect: { error: not_an_administrator }
  - revoke: { key: active }`,
  "a replaced key in its overlap, and its replacement rotated again": `story:
  - rotate: { key: active }
  - request: { key: active }
    expect: { status: 200, path: 200.retiring }
  - rotate: { key: active-2 }
  - request: { key: active-2-2 }
    expect: { status: 200 }`,
  "a success that a fault makes up for a key that has ended": `faults:
  - { when: { key: gone }, then: { malformed: true } }
story:
  - request: { key: gone }
    expect: { status: 200, code: null }`,
  "a rejection whose body was cut off": `faults:
  - { then: { truncate: true } }
story:
  - request: { key: gone }
    expect: { status: 401, code: null }`,
  "no code in the answer to a HEAD": `story:
  - request: { key: gone, method: HEAD }
    expect: { status: 401, code: null }
  - request: { key: gone, method: HEAD }
    expect: { path: 401.revoked, code: null }`,
  "any code of a 429": `story:
  - request: { repeat: 61 }
    expect: { status: 429, code: quota_exceeded }`,
  "success at an announced endpoint": `preview: true
story:
  - request: { path: /v1/relying-party/attestations?limit=1 }
    expect: { status: 200 }
  - request: { method: POST, path: /v1/relying-party/consent-requests, body: {} }
    expect: { status: 201 }`,
  "braces that stand for nothing": `story:
  - request: { method: POST, path: "/v1/{id}", body: "Dear {user.name}, {consents}" }`,
  "a header in Latin-1": `story:
  - request: { headers: { X-Name: "Müller\\tund Söhne", X-Empty: "" } }`,
};

test.each(Object.entries(possible))("%s is no error", (_name, text) => {
  expect(problemsOf(head + text)).toEqual([]);
});

test("what is left of the timeline of a snapshot may come to nothing, and is no error", () => {
  const timeline = `timeline:
  - { at: 10m, revoke: { key: gone } }
  - { at: 20m, revoke: { key: never-made } }
  - { at: 30m, create_key: { organization: bank, environment: test, name: CI, ref: active } }
`;
  expect(problemsOf(head + timeline)).toHaveLength(3);
  expect(problemsOf(`${head}requests_answered: 0\n${timeline}`)).toEqual([]);
});
