import type { PromisedOutcomeId } from "../../rules/outcomes.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { quoted, shownText } from "../response/describe.js";
import type { TextAtPlace } from "./compare-texts.js";
import type { Contrast } from "./contrasts.js";
import { independentPlaces } from "./independent-places.js";
import type { DifferingPlace, ResponsePlace } from "./places.js";
import { startOfBytes } from "./split-response.js";
import type { UnjudgedPlace } from "./unjudged-places.js";

const unshownBytes = "bytes that are not UTF-8";

/** Returns the differences of each cause, without places that differ only because another one does. */
export function describeContrasts(contrasts: readonly Contrast[]): ContractDifference[] {
  const differences: ContractDifference[] = [];
  for (const cause of new Set(contrasts.map((contrast) => contrast.cause))) {
    const ofCause = contrasts.filter((contrast) => contrast.cause === cause);
    for (const contrast of independentPlaces(ofCause)) differences.push(describeContrast(contrast));
  }
  return differences;
}

function describeContrast({
  place,
  cause,
  baseline,
  textOfCause,
  textOfBaseline,
}: Contrast): ContractDifference {
  const expected = describeText(place, textOfBaseline);
  let found = describeText(place, textOfCause);
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

/** The text of a place in words. Headers and the whole body are quoted; members, mostly JSON, and parameters are shown as they are. */
function describeText({ kind }: ResponsePlace, text: TextAtPlace): string {
  switch (kind) {
    case "member":
      return text === undefined ? "nothing" : shownText(text);
    case "parameter":
      return text === undefined ? "no such parameter" : shownText(text);
    case "header":
    case "header_names":
    case "http_version":
    case "reason_phrase":
      return text === undefined ? "no such header" : quoted(text);
    case "body":
      if (text === undefined) return "nothing";
      return text.startsWith(startOfBytes) ? unshownBytes : quoted(text);
  }
}

interface UncertainFindings {
  readonly uncompared: ReadonlyMap<PromisedOutcomeId, string>;
  readonly unjudged: readonly UnjudgedPlace[];
  /** The places that agree without the words that are new in each response. */
  readonly varying: readonly DifferingPlace[];
}

/** Returns the notes on what was not compared, or only in part. */
export function notesOnRejections({ uncompared, unjudged, varying }: UncertainFindings): string[] {
  const notes: string[] = [];
  for (const why of new Set(uncompared.values())) {
    const causes = [...uncompared.keys()].filter((cause) => uncompared.get(cause) === why);
    notes.push(`Not compared with the other causes of 401 (R14): ${causes.join(", ")}, because ${why}.`);
  }
  for (const why of new Set(unjudged.map((place) => place.why))) {
    const places = unjudged.filter((place) => place.why === why);
    notes.push(`Not judged between the causes of 401, because ${why}: ${listPlaces(places)}.`);
  }

  if (varying.length > 0) {
    notes.push(
      `Compared between the causes of 401 without the words that are new in each response: ${listPlaces(varying)}.`,
    );
  }
  return notes;
}

interface NamedPlace {
  readonly place: ResponsePlace;
}

function listPlaces(places: readonly NamedPlace[]): string {
  const names = new Set(places.map(({ place }) => shownText(place.name)));
  return [...names].join(", ");
}
