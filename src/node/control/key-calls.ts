import { snakeCase } from "../../api/snake-case.js";
import { createKey } from "../../sandbox/lifecycle/create-key.js";
import { revokeKey } from "../../sandbox/lifecycle/revoke-key.js";
import { rotateKey } from "../../sandbox/lifecycle/rotate-key.js";
import { viewKey } from "../../sandbox/views.js";
import type { World } from "../../sandbox/world.js";
import { parseWhen } from "../../scenario/when.js";
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
    run({ runtime, actor, body: { expires, limits, ...key } }) {
      const world = runtime.world();
      // In a path an unknown ref is a page that is not there; in a body it is a field that is wrong.
      inField("organization", () => world.registry.organization(key.organization), ["unknown_ref"]);
      const expiresAt = expires === undefined ? undefined : parseWhen(expires, world.clock.now());
      const issued = createKey(
        world,
        {
          organization: key.organization,
          environment: key.environment,
          name: key.name,
          ...(key.scopes !== undefined && { scopes: key.scopes }),
          ...(key.ref !== undefined && { ref: key.ref }),
          ...(limits !== undefined && { limits: limitsOf(limits) }),
          ...(expiresAt !== undefined && { expiresAt }),
        },
        actor,
      );
      return { data: { key: keyView(world, issued.key.ref), secret: issued.secret } };
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
      const world = runtime.world();
      const rotation = {
        // Minutes may have fractions, and those of a millisecond come from the arithmetic.
        ...(overlap !== undefined && { overlap: Math.round(overlap * minute) }),
        ...(as !== undefined && { as }),
      };
      const issued = rotateKey(world, params.ref as string, rotation, actor);
      return { data: { key: keyView(world, issued.key.ref), secret: issued.secret } };
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
      revokeKey(runtime.world(), params.ref as string, actor);
      return { data: { key: keyView(runtime.world(), params.ref as string) } };
    },
  }),
];

function keyView(world: World, ref: string): unknown {
  return snakeCase(viewKey(world.registry.key(ref), world));
}

function limitsOf({
  per_minute,
  per_day,
}: {
  per_minute?: number | undefined;
  per_day?: number | undefined;
}) {
  return {
    ...(per_minute !== undefined && { perMinute: per_minute }),
    ...(per_day !== undefined && { perDay: per_day }),
  };
}
