import { type Assumptions, assumptionsFor, assumptionTable } from "../../rules/assumptions.js";
import { mix32, type RandomStream, randomStream } from "../../rules/seed.js";
import { type ChooseVariant, fixedAssumptions, profileOf } from "../../sandbox/conditions.js";
import type { ApiResponse } from "../../sandbox/journal/exchange.js";
import { numberInSeries } from "../../sandbox/request-ids.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { headerPairs, withBody } from "../messages.js";
import { contextRows, type Draft, type RowVariant, type VariationRow, variationTable } from "./table.js";

interface Selected {
  readonly variant: RowVariant;
  readonly random: RandomStream;
}

export type Selector = (row: VariationRow) => Selected;

/** Depends only on the seed, the number in its series and the row: a new row changes no other. */
export function selector(seed: number, number: number): Selector {
  const start = randomStream(seed, "variation", String(numberInSeries(number)))();
  return ({ salt, variants }) => {
    let value = mix32(start ^ salt);
    const variant = variants[Math.floor((value / 4_294_967_296) * variants.length)] as RowVariant;
    const random = () => {
      value = mix32(value + 0x9e3779b9);
      return value;
    };
    return { variant, random };
  };
}

const typicalSelector: Selector = ({ fixedBy, variants }) => {
  const isTypical = ({ assume }: RowVariant) =>
    fixedBy !== undefined && assume?.[fixedBy] === assumptionTable[fixedBy].typical;
  return {
    variant: variants.find((one) => one.assume !== undefined && isTypical(one)) ?? variants[0],
    random: () => 0,
  };
};

export interface Variation {
  readonly assumptions: Assumptions;
  readonly requestId: string;
  readonly selected: readonly (Selected & { readonly row: VariationRow })[];
}

/** It never depends on the request, or on why its key is rejected (R14). Rows of assumptions that were set do not apply. */
export function variationOf(
  sandbox: SandboxState,
  number: number,
  select: Selector = profileOf(sandbox) === "typical" ? typicalSelector : selector(sandbox.seed, number),
): Variation {
  const fixed = fixedAssumptions(sandbox);
  const selected = variationTable
    .filter(({ fixedBy }) => fixedBy === undefined || fixed[fixedBy] === undefined)
    .map((row) => ({ row, ...select(row) }));
  return variationWith(sandbox, number, selected);
}

function variationWith(
  { assumptions, requestIds }: SandboxState,
  number: number,
  selected: Variation["selected"],
): Variation {
  const usual = requestIds.idOf(number);
  const form = selected.find(({ variant }) => variant.requestId !== undefined)?.variant.requestId;
  return {
    assumptions: Object.assign({}, assumptions, ...selected.map(({ variant }) => variant.assume)),
    requestId: form === undefined ? usual : form(usual.slice("req_".length)),
    selected,
  };
}

interface ResponseKind {
  readonly status: number;
  readonly isContext: boolean;
}

/** A variation with the variants that a run chooses for a response with this status. */
export function chosenVariation(
  sandbox: SandboxState,
  number: number,
  variation: Variation,
  choose: ChooseVariant,
  { status, isContext }: ResponseKind,
): Variation {
  const selected = variation.selected.map((one) => {
    const { row, variant } = one;
    // A failure of the service has only the rows for every status.
    const applies =
      row.statuses.includes(status) || (status >= 500 && (variant.assume ?? variant.requestId) !== undefined);
    if (!applies || (!isContext && contextRows.includes(row))) return one;
    const id = choose(row.id, variant.id, status);
    return { ...one, variant: row.variants.find((other) => other.id === id) ?? row.variants[0] };
  });
  return variationWith(sandbox, number, selected);
}

/** The assumptions that the scenario sets and the profile would set differently, or vary. */
export function pinnedAssumptions(sandbox: SandboxState): (keyof Assumptions)[] {
  const { givenAssumptions, endpoints } = sandbox;
  const profile = profileOf(sandbox);
  const standard = assumptionsFor(profile, {}, endpoints);
  const names = Object.keys(givenAssumptions) as (keyof Assumptions)[];
  const unvaried = unvariedAssumptions(sandbox);
  const differs = (name: keyof Assumptions) =>
    JSON.stringify(givenAssumptions[name]) !== JSON.stringify(standard[name]);
  return names.filter(
    (name) => givenAssumptions[name] !== undefined && (unvaried.includes(name) || differs(name)),
  );
}

/** The assumptions that the sandbox sets itself and the profile would vary. */
export function unvariedAssumptions(sandbox: SandboxState): (keyof Assumptions)[] {
  if (profileOf(sandbox) !== "varied") return [];
  const fixed = fixedAssumptions(sandbox);
  return variationTable.flatMap(({ fixedBy }) =>
    fixedBy !== undefined && fixed[fixedBy] !== undefined ? fixedBy : [],
  );
}

/** Varies everything that the status leaves open of a response that was made with the variation's assumptions. */
export function vary(
  { status, headers, body }: ApiResponse,
  { selected }: Variation,
  { isContext = false }: { readonly isContext?: boolean } = {},
): ApiResponse {
  const draft: Draft = { status, body: JSON.parse(body), text: "", headers: headerPairs(headers) };
  for (const { row, variant, random } of selected) {
    if (!row.statuses.includes(status) || (!isContext && contextRows.includes(row))) continue;
    variant.change?.(draft, random);
  }
  return withBody({ status, headers: draft.headers.flat(), body }, draft.text);
}
