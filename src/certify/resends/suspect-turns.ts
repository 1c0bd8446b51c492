import { keyVariable } from "../../rules/key-text.js";
import { listed } from "../../schema/words.js";
import { type NotJudged, notAllMade, notJudged, type Reason } from "../checks/judgment.js";
import { isNoticed, type NotMade } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { runReplacingNth, type SteadyKey, whatFollowed } from "./replaced-run.js";
import { nameOfKey, type Suspect, waitAfterRejection } from "./resend-kinds.js";
import { sentByOtherProcess, turnOffSomePolls } from "./resend-words.js";
import type { Turn } from "./turn-plan.js";

/** What a turn shows of the suspects. */
export type TurnResult =
  /** One more request followed: one that must not come, or one in time. */
  | { readonly kind: "resent" | "in_time" }
  /** The turn was another key's, and is no reason to doubt the suspects. */
  | { readonly kind: "no_doubt" }
  /** The requests of the suspects may have another reason. */
  | { readonly kind: "doubt"; readonly reason: Reason }
  | NotMade;

/** The turns of suspects, which share a key. */
export class SuspectTurns {
  readonly #runs: Runs;
  readonly #key: SteadyKey;
  readonly #suspects: readonly Suspect[];
  #madeCount = 0;

  constructor(runs: Runs, key: SteadyKey, suspects: readonly Suspect[]) {
    this.#runs = runs;
    this.#key = key;
    this.#suspects = suspects;
  }

  /** How many turns were made. */
  get madeCount(): number {
    return this.#madeCount;
  }

  /** Rejects the request of a turn. */
  async take(turn: Turn): Promise<TurnResult> {
    const isOfSuspects = turn.key.ref === this.#key.ref;
    const result = isOfSuspects ? await this.#rejectUpToTwice(turn) : await this.#rejectOtherKey(turn);
    if (result.kind !== "not_made") this.#madeCount += 1;
    return result;
  }

  /** A suite that fails at random may fail although one more request came: then the turn is taken once more. */
  async #rejectUpToTwice(turn: Turn): Promise<TurnResult> {
    const first = await this.#reject(turn);
    if (first.kind !== "failed") return first;
    const second = await this.#reject(turn);
    return second.kind === "failed" ? { kind: "doubt", reason: second.reason } : second;
  }

  /** Rejects a request of the suspects' key. `failed`: one more request came, and the command failed. */
  async #reject(turn: Turn): Promise<TurnResult | { readonly kind: "failed"; readonly reason: Reason }> {
    const { key, nth, resendKind } = turn;
    const followed = await this.#whatFollowed(turn);
    const when = `when its request ${nth} of ${key.usualCount} got ${resendKind.responseWords}`;
    switch (followed.kind) {
      case "not_made":
        return followed;
      case "not_judged":
        return { kind: "doubt", reason: followed.reason };
      case "nothing":
        return { kind: "doubt", reason: this.reasonToDoubt(`but not ${when}`, turnOffSomePolls) };
      case "sent_again":
        if (followed.run.result !== "passed") {
          const reason = this.reasonToDoubt(`but the command failed ${when}`, turnOffSomePolls);
          return { kind: "failed", reason };
        }
        if (!resendKind.isTimed || followed.early !== undefined) return { kind: "resent" };
        if (followed.next.isElsewhere) return { kind: "doubt", reason: sentByOtherProcess };
        return { kind: "in_time" };
    }
  }

  /** Rejects the last request of another key. If a test uses its response, and nothing follows, only tests with the suspects' key may poll. */
  async #rejectOtherKey(turn: Turn): Promise<TurnResult> {
    const followed = await this.#whatFollowed(turn);
    switch (followed.kind) {
      case "not_made":
        return followed;
      case "not_judged":
        return { kind: "doubt", reason: followed.reason };
      case "nothing":
        if (!isNoticed(followed.run)) return { kind: "no_doubt" };
        return { kind: "doubt", reason: this.#otherKeyIsNotSentAgain(turn.key) };
      case "sent_again":
        return { kind: "no_doubt" };
    }
  }

  async #whatFollowed({ key, nth, resendKind }: Turn) {
    const { rejection, check } = resendKind;
    const request = runReplacingNth(key, nth, rejection, check, waitAfterRejection(resendKind));
    return whatFollowed(await this.#runs.makeAnother(request), key);
  }

  /** As in "SVC_KEY_ACTIVE was sent again (req_1), but not when its request 2 of 4 got a 401". */
  reasonToDoubt(ending: string, whatToDo: string): Reason {
    const why = `${keyVariable(this.#key.ref)} was sent again (${this.#firstIds()}), ${ending}`;
    return { why, whatToDo };
  }

  #otherKeyIsNotSentAgain(otherKey: SteadyKey): Reason {
    const [own, other] = [nameOfKey(this.#key.ref), nameOfKey(otherKey.ref)];
    return {
      why: `requests with ${own} are sent again (${this.#firstIds()}), those with ${other} are not`,
      whatToDo: turnOffSomePolls,
    };
  }

  #firstIds(): string {
    const ids = new Set(this.#suspects.map(({ firstRequest }) => firstRequest.id));
    return listed([...ids], "and");
  }

  /** Not all of so many turns were made. The runs that rejected the last request count as well: they were made for the same question. */
  notAllMade(neededTurns: number): NotJudged {
    const runsBefore = this.#suspects[0]?.requests.length ?? 0;
    return notJudged(notAllMade(runsBefore + this.#madeCount, runsBefore + neededTurns));
  }
}
