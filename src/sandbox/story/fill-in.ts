import { SandboxError } from "../../domain/errors.js";
import { storyPlaceholder } from "../../scenario/format/ref.js";
import { attestationsOf } from "../preview/consent-views.js";
import type { World } from "../world.js";

/**
 * The text with ids in the place of `{farmer.0}` (by index), `{consent.1}` and `{attestation.1}` (the first one that
 * there is). Without the preview it stays as it is.
 *
 * Throws `unknown_ref` for what is not there.
 */
export function fillIn(world: World, text: string): string {
  if (!world.preview) return text;
  return text.replace(storyPlaceholder, (whole, kind: string, digits: string) => {
    const id = idOf(world, kind, Number(digits));
    if (id !== undefined) return id;
    const there = countOf(world, kind);
    throw new SandboxError(
      "unknown_ref",
      `Failed to fill in ${whole}: ${there === 0 ? `there is no ${kind}` : `the last ${kind} is {${kind}.${kind === "farmer" ? there - 1 : there}}`}.`,
      { placeholder: whole },
    );
  });
}

function idOf(world: World, kind: string, number: number): string | undefined {
  if (kind === "farmer") return number < world.farmers.count ? world.farmers.idOf(number) : undefined;
  if (kind === "consent") return world.consents.all[number - 1]?.id;
  return attestationsNow(world)[number - 1]?.id;
}

function countOf(world: World, kind: string): number {
  if (kind === "farmer") return world.farmers.count;
  return kind === "consent" ? world.consents.all.length : attestationsNow(world).length;
}

function attestationsNow(world: World) {
  return attestationsOf(world.consents.all, world.clock.now());
}
