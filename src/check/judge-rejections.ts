import type { Answer } from "./answer.js";
import { type Contrast, contrasts } from "./contrasts.js";
import type { Exchange } from "./exchange.js";
import { agreement, disagreement, type Observation } from "./observation.js";

/** What comes of holding the 401 answers against each other. */
export interface Comparison {
  readonly observations: readonly Observation[];
  /** Whether one more answer to the first request would tell if it is the reason that makes the others differ. */
  readonly wantsControl: boolean;
  /** Whether answers to one and the same request differ in which headers and members they have. */
  readonly varyByThemselves: boolean;
}

/** How often the first request is sent again at most. */
export const mostControls = 3;

/**
 * Holds the 401 answers against the first of them: a rejected key never learns why (R14).
 *
 * Real answers also differ in ways that have nothing to do with the reason, such as a trace id. `controls` are further
 * answers to the first request; what differs among those tells nobody anything.
 */
export function compareRejections(rejections: readonly Exchange[], controls: readonly Answer[]): Comparison {
  const [reference, ...others] = rejections;
  if (reference === undefined) return { observations: [], wantsControl: false, varyByThemselves: false };
  const varying = controls.map((control) => contrasts(reference.answer, control));
  const varyByThemselves = varying.flat().some(({ kind }) => kind === "form");
  const isTelling = tellingBeside(varying.flat());
  const observations = others.flatMap(({ probe: { pathId }, answer }) => {
    const telling = contrasts(reference.answer, answer).filter(isTelling);
    if (telling.length === 0) return [agreement(pathId, "R14")];
    return telling.map(({ at, one, other }) =>
      disagreement({
        rules: ["R14"],
        pathId,
        at,
        expected: `${one}, as for ${reference.probe.pathId}`,
        found: other,
      }),
    );
  });
  // One answer that is the very same shows that answers do not vary by themselves.
  const isSettled = controls.length >= mostControls || varying.some((found) => found.length === 0);
  return {
    observations,
    // Answers that vary by themselves do so in more ways than one answer shows.
    wantsControl:
      !isSettled && (varyByThemselves || observations.some(({ difference }) => difference !== undefined)),
    varyByThemselves,
  };
}

// Where members or headers come and go by themselves, so may all that is not promised: only the code is.
function tellingBeside(varying: readonly Contrast[]): (contrast: Contrast) => boolean {
  const innocent = new Set(varying.map(({ at }) => at));
  const someForm = varying.some(({ kind }) => kind === "form");
  const membersForm = varying.some(({ kind, inBody, at }) => kind === "form" && inBody && at !== "body");
  return ({ at, kind, inBody }) => {
    if (innocent.has(at)) return false;
    if (at === "$.error.code") return true;
    return inBody && kind === "value" ? !membersForm : !someForm;
  };
}
