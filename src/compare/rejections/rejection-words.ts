import type { WhyByOutcome } from "../contract/promised-outcome.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { quoted, shownText } from "../response/describe.js";
import type { TextAtPlace } from "./compare-texts.js";
import { type DifferingPlace, findConsequences } from "./consequences.js";
import type { Contrast } from "./contrasts.js";
import type { OpenPlace } from "./judge-places.js";
import { placeId, type ResponsePlace } from "./places.js";
import { startOfBytes } from "./split-response.js";

/** Why a place is open, after `because`. */
export const whyPlaceIsOpen = "it varies in another way than ids and times";

const unshownBytes = "bytes that are not UTF-8";

/** Returns the differences of each cause, without places that differ only because another one does. */
export function describeContrasts(contrasts: readonly Contrast[]): ContractDifference[] {
  const differences: ContractDifference[] = [];
  for (const cause of new Set(contrasts.map((contrast) => contrast.cause))) {
    const contrastsOfCause = contrasts.filter((contrast) => contrast.cause === cause);
    const consequences = findConsequences(contrastsOfCause.map(asDifferingPlace));
    for (const contrast of contrastsOfCause) {
      if (!consequences.has(placeId(contrast.place))) differences.push(describeContrast(contrast));
    }
  }
  return differences;
}

function asDifferingPlace({ place, textOfCause, textOfBaseline }: Contrast): DifferingPlace {
  return { place, texts: [textOfCause, textOfBaseline] };
}

function describeContrast(contrast: Contrast): ContractDifference {
  const { place, cause, baseline, textOfCause, textOfBaseline } = contrast;
  const expected = wordsOfText(place, textOfBaseline);
  let found = wordsOfText(place, textOfCause);
  // Both are shortened for display only, and bytes are not shown.
  if (found === expected) {
    found = found === unshownBytes ? "other bytes" : "another value, which begins in the same way";
  }
  return {
    rules: ["R14"],
    outcome: cause,
    at: shownText(place.name),
    expected: `${expected}, as for ${baseline}`,
    found,
  };
}

/**
 * The text of a place in words. Headers and the whole body are quoted; members, mostly JSON, and parameters are shown as they
 * are.
 */
function wordsOfText({ kind }: ResponsePlace, text: TextAtPlace): string {
  switch (kind) {
    case "member":
      return text === undefined ? "nothing" : shownText(text);
    case "parameter":
      return text === undefined ? "no such parameter" : shownText(text);
    case "header":
      return text === undefined ? "no such header" : quoted(text);
    case "body":
      return text?.startsWith(startOfBytes) ? unshownBytes : quoted(text ?? "");
    case "header_names":
    case "http_version":
    case "reason_phrase":
      // Each response has these places.
      return quoted(text ?? "");
  }
}

/** What R14 does not tell about the 401s, or only in part. */
interface RejectionsInPart {
  readonly openCauses: WhyByOutcome;
  readonly openPlaces: readonly OpenPlace[];
  /** The places that agree without the words that are new in each response. */
  readonly agreeingPlaces: readonly ResponsePlace[];
}

/** Returns the notes on what was not compared, or only in part. */
export function notesOnRejections({ openCauses, openPlaces, agreeingPlaces }: RejectionsInPart): string[] {
  const notes: string[] = [];
  for (const why of new Set(openCauses.values())) {
    const causes = [...openCauses.keys()].filter((cause) => openCauses.get(cause) === why);
    notes.push(`Not compared with the other causes of 401 (R14): ${causes.join(", ")}, because ${why}.`);
  }
  if (openPlaces.length > 0) {
    const places = openPlaces.map(({ place }) => place);
    notes.push(`Not judged between the causes of 401, because ${whyPlaceIsOpen}: ${listPlaces(places)}.`);
  }
  if (agreeingPlaces.length > 0) {
    notes.push(
      `Compared between the causes of 401 without the words that are new in each response: ${listPlaces(agreeingPlaces)}.`,
    );
  }
  return notes;
}

function listPlaces(places: readonly ResponsePlace[]): string {
  const names = new Set(places.map(({ name }) => shownText(name)));
  return [...names].join(", ");
}
