/** The request of each turn, from 1: from the first to the last, at even distances. Fewer than there are turns come again. */
export function requestOfEachTurn(requestCount: number, turnCount: number): number[] {
  const requests: number[] = [];
  const distance = (requestCount - 1) / (turnCount - 1);
  for (let turn = 0; turn < turnCount; turn++) {
    if (requestCount <= turnCount) requests.push(1 + (turn % requestCount));
    else requests.push(1 + Math.round(turn * distance));
  }
  return requests;
}
