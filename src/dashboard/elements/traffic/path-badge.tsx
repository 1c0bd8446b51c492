import { linkTo } from "../../route.js";

/** The kind of an outcome, which sets its color. It depends on the status in the path id. */
export function toneOf(pathId: string): "success" | "key" | "access" | "limit" | "fault" | "other" {
  if (pathId.startsWith("2")) return "success";
  if (pathId.startsWith("401")) return "key";
  if (pathId.startsWith("403")) return "access";
  if (pathId.startsWith("429")) return "limit";
  return pathId.startsWith("fault") ? "fault" : "other";
}

export function PathBadge({ pathId }: { readonly pathId: string }) {
  return <code class={`path-badge toned tone-${toneOf(pathId)}`}>{pathId}</code>;
}

/** A link to the faults if one of them changed or delayed the response; otherwise nothing. */
export function OwnFault({ fault }: { readonly fault: string | null }) {
  if (fault === null) return null;
  return (
    <>
      , <a href={linkTo("faults")}>caused by a fault set in this sandbox</a>
    </>
  );
}
