// How many requests use up a minute of a key. For example, `per_minute` is 60, and two controls confirm a 429:
//
// | requests | count | why |
// |---|---|---|
// | until the 429 | 61 | 60 may get 200, and the next one gets 429 |
// | needed | 63 | these, and the two controls |
// | that prove that there is no limit | 121 | any 60 s are in two minutes of the key at most: of 121, one minute had 61 |
// | at most | 121 | with fewer left, what the controls leave: 98 of 100 |

/** The requests that use up a minute, or how many are needed for that. */
type ProbePlan =
  | {
      readonly kind: "enough_left";
      readonly mostRequests: number;
      /** So many requests with 200 in less than a minute prove that there is no limit. */
      readonly provingRequests: number;
    }
  | { readonly kind: "too_few_left"; readonly neededRequests: number };

/** Plans the requests that use up a minute of `perMinute` requests, if `requestsLeft` may still be sent. */
export function planProbe(perMinute: number, controlCount: number, requestsLeft: number): ProbePlan {
  const requestsUntil429 = perMinute + 1;
  const neededRequests = requestsUntil429 + controlCount;
  if (requestsLeft < neededRequests) return { kind: "too_few_left", neededRequests };

  const provingRequests = countProvingRequests(perMinute);
  const mostRequests = Math.min(provingRequests, requestsLeft - controlCount);
  return { kind: "enough_left", mostRequests, provingRequests };
}

/** With `per_minute` of 60, 121. */
export function countProvingRequests(perMinute: number): number {
  return 2 * perMinute + 1;
}
