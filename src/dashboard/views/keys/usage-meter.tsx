import type { Key } from "../../control/answers.js";
import { upcoming } from "../../control/upcoming.js";
import { Until } from "../../elements/instant.js";

interface UsageMeterProps {
  readonly keyRef: string;
  readonly used: number;
  readonly limit: number;
  readonly window: "minute" | "day";
}

/** A key's usage of one of its limits: yellow from 80%, red at the limit. */
function UsageMeter({ keyRef, used, limit, window }: UsageMeterProps) {
  // A meter needs a length. A limit of 0 is always reached.
  const [value, max] = limit === 0 ? [1, 1] : [Math.min(used, limit), limit];
  return (
    <div class="usage">
      <span>
        {used.toLocaleString("en")}{" "}
        <span class="muted">
          of {limit.toLocaleString("en")} per {window}
        </span>
      </span>
      <meter
        aria-label={`${keyRef}: used this ${window}`}
        min={0}
        low={max * 0.8}
        high={max - max / 1e6}
        max={max}
        optimum={0}
        value={value}
      >
        {used} of {limit}
      </meter>
      {used === 0 ? null : <Reset keyRef={keyRef} window={window} />}
    </div>
  );
}

function Reset({ keyRef, window }: Pick<UsageMeterProps, "keyRef" | "window">) {
  // The reset of a sliding minute belongs to one key.
  const reset = upcoming.data.value?.find(
    ({ kind, key }) => kind === `${window}_reset` && (key ?? keyRef) === keyRef,
  );
  return reset === undefined ? null : (
    <span class="muted">
      resets <Until at={reset.at} />
    </span>
  );
}

/** The usage of a key against both of its limits. */
export function UsageMeters({ of: { ref, usage, limits } }: { readonly of: Key }) {
  return (
    <>
      <UsageMeter keyRef={ref} used={usage.this_minute} limit={limits.per_minute} window="minute" />
      <UsageMeter keyRef={ref} used={usage.today} limit={limits.per_day} window="day" />
    </>
  );
}
