// Is it by chance? A command may fail, or send a key again, for a reason that has nothing to do with what a run changes. So nothing rests on
// one run alone, where another run could end differently. This file has how many runs each question takes, in the order in which certify
// asks, below the name of the file that reads the numbers. They were chosen by certifying thousands of generated suites, some of which fail,
// poll or wait at random: with fewer runs, more suites are accused by chance, or fewer flaws are named.
//
// A run that does not end in time takes long, and does so by no chance. It is never repeated.

// plain-run.ts: does the plain run fail because of the profile?
/** So many pairs in a row, in which `minimal` fails and `typical` passes, show it. */
export const surePairs = 4;

// client-runs/doubt-of-failure.ts: does a failure count as "noticed"? With all varied seeds, these show a command that fails at random.
/** With fewer seeds, so many runs under the same conditions must fail. */
export const failuresWithFewSeeds = 2;
/** With fewer seeds, so many plain runs must pass next to them. */
export const plainRunsWithFewSeeds = 3;

// client-runs/repeat-failures.ts: is a failure a problem?
/** So many repetitions must fail, at least one of each failure. */
export const minRepetitions = 5;

// resends/steady-key.ts: is a key sent equally often in each run?
/** So many varied runs that hold show it. */
export const sureVariedRuns = 2;
/** With fewer varied runs, so many plain runs show it. */
export const surePlainRuns = 5;

// resends/last-rejections.ts: does the client resend after its last request was rejected, or does it wait?
/** So many runs must show a resend. */
export const sureResends = 2;
/** So many runs reject the last request at most. */
export const maxRejections = 5;
/** If no run shows a resend, so many must show a request in time. */
export const sureWaits = 2;
/** More of them for a single timed kind: no other kind would show a client that waits at random. */
export const sureWaitsOfSingleKind = 3;

// resends/turn-plan.ts: do all tests send the key again, or only some that poll?
/** So many turns must all show a request more. */
export const minTurns = 8;
/** So many of these turns reject another key. */
export const turnsOfOtherKeys = 2;

// resends/resend-turns.ts: did a resend come in time by chance, of a client that waits at random?
/** So many more turns of the same request are taken. */
export const maxMoreTurns = 5;

// varied/causes.ts: does a run fail because of its seed?
/** So many trials of the first run in which nothing varies must fail. */
export const failuresOfFirstSeed = 2;
/** Of a later run, one is enough: another seed breaks the command already. */
export const failuresOfLaterSeed = 1;

// varied/explained-failures.ts: is the search in vain?
/** After so many runs without a cause, no other run is searched. */
export const maxSearchedInVain = 2;

// varied/cause-search.ts: which row breaks a run?
/** Does it fail for another reason than the known causes? So many trials without these must fail. */
export const failuresWithoutCauses = 2;
/** Which half of its rows breaks it? One trial is enough: a row that is found by chance is not confirmed. */
export const failuresOfHalf = 1;

// varied/row-confirmation.ts: does the row break the run alone?
/** So many trials must fail in which it varies on one status. */
export const failuresOnOneStatus = 2;
/** So many must fail if it varies on several: one more, since each status alone has passed a trial. */
export const failuresOnAllStatuses = 3;
