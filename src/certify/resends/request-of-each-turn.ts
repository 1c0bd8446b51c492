/**
 * The number of the request that each turn rejects, from 1. If there are fewer requests than turns, they come again in their order. Else
 * the first turn has the first request, the last one the last, and those between are at even distances.
 */
export function requestOfEachTurn(requestCount: number, turnCount: number): number[] {
  const requests: number[] = [];
  const distance = (requestCount - 1) / (turnCount - 1);
  for (let turn = 0; turn < turnCount; turn++) {
    if (requestCount <= turnCount) requests.push(1 + (turn % requestCount));
    else requests.push(1 + Math.round(turn * distance));
  }
  return requests;
}
