import { snakeCase } from "../../api/snake-case.js";
import { operations } from "../../sandbox/operations/operations.js";
import { viewKey } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";
import { inField } from "./in-field.js";

const minute = 60_000;

/** The dashboard's key page. */
export const keyCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/keys",
    summary: "All keys, in the scenario's order",
    status: 200,
    answer: inData.list("Key"),
    run: ({ runtime }) => ({
      data: [...runtime.world().registry.keys.keys()].map((ref) => keyView(runtime.world(), ref)),
    }),
  }),
  controlCall({
    method: "POST",
    path: "/keys",
    summary: "Creates a key; its secret is in this answer and nowhere else",
    body: "key_creation",
    status: 201,
    answer: inData.issuedKey,
    run({ runtime, actor, body }) {
      const world = runtime.world();
      // In a path an unknown ref is a page that is not there; in a body it is a field that is wrong.
      inField("organization", () => world.registry.organization(body.organization), ["unknown_ref"]);
      return { data: snakeCase(operations.create_key(world, body, { actor })) };
    },
  }),
  controlCall({
    method: "GET",
    path: "/keys/{ref}",
    summary: "One key",
    status: 200,
    answer: inData.one("Key"),
    run: ({ runtime, params }) => ({ data: keyView(runtime.world(), params.ref as string) }),
  }),
  controlCall({
    method: "POST",
    path: "/keys/{ref}/rotate",
    summary: "Replaces an active key; the old one works until its overlap ends",
    body: "key_rotation",
    status: 201,
    answer: inData.issuedKey,
    run({ runtime, actor, params, body: { overlap_minutes: overlap, as } }) {
      const input = {
        key: params.ref as string,
        // Minutes may have fractions, and those of a millisecond come from the arithmetic.
        overlap: overlap === undefined ? undefined : Math.round(overlap * minute),
        as,
      };
      const { replacement, secret } = operations.rotate(runtime.world(), input, { actor });
      return { data: { key: snakeCase(replacement), secret } };
    },
  }),
  controlCall({
    method: "POST",
    path: "/keys/{ref}/revoke",
    summary: "Revokes an active key at once",
    body: "nothing",
    status: 200,
    answer: inData.key,
    run({ runtime, actor, params }) {
      return {
        data: snakeCase(operations.revoke(runtime.world(), { key: params.ref as string }, { actor })),
      };
    },
  }),
];

function keyView(world: World, ref: string): unknown {
  return snakeCase(viewKey(world.registry.key(ref), world));
}
