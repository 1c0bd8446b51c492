// Is it by chance? A command may fail, or send a key again, for a reason that has nothing to do with what a run changes. So nothing rests on
// one run alone, where another run could end differently: a number of 1 here stands next to other runs of the same question. This file has how
// many runs each question takes. The numbers were chosen by certifying thousands of generated suites, some of which fail, poll or wait at random: with fewer runs, more suites are
// accused by chance, or fewer flaws are named.
//
// A run that does not end in time takes long, and does so by no chance. It is never repeated.

/** Does the plain run fail because of the profile? So many pairs in a row, in which `minimal` fails and `typical` passes, show it. */
export const surePairs = 4;

/** Does a failure count as "noticed"? With all varied seeds, these show a command that fails at random. With fewer, it must come twice, next to so many plain runs that pass. */
export const failuresWithFewSeeds = 2;
export const plainRunsWithFewSeeds = 3;

/** Is a failure a problem? So many repetitions must fail, at least one of each failure. */
export const minRepetitions = 5;

/** Is a key sent equally often in each run? So many varied runs that hold show it, or else so many plain runs. */
export const sureVariedRuns = 2;
export const surePlainRuns = 5;

/** Does the client resend? So many runs that reject the last request must show it, of so many at most. */
export const sureResends = 2;
export const maxRejections = 5;

/** Does the client wait? So many runs must show a request in time: more for a single kind, since no other kind would show a client that waits at random. */
export const sureWaits = 2;
export const sureWaitsOfSingleKind = 3;

/** Do all tests send the key again, or only some that poll? So many turns, of which some reject another key, must all show it. */
export const minTurns = 8;
export const turnsOfOtherKeys = 2;

/** Did a resend come in time by chance, of a client that waits at random? So many more turns of the same request are taken. */
export const maxMoreTurns = 5;

/** Does the first run fail because of its seed? So many trials in which nothing varies must fail. Of a later run, one is enough. */
export const failuresOfFirstSeed = 2;
export const failuresOfLaterSeed = 1;

/** Does a run fail for another reason than the known causes? So many trials without these must fail. */
export const failuresWithoutCauses = 2;

/** Which half of the rows breaks the run? One trial is enough: a row that is found by chance is not confirmed. */
export const failuresOfHalf = 1;

/** Does a row break the run alone? So many trials on one status must fail, and one more on several, since each status alone has passed a trial. */
export const failuresOnOneStatus = 2;
export const failuresOnAllStatuses = 3;

/** Is the search in vain? After so many runs without a cause, no other run is searched. */
export const maxSearchedInVain = 2;
