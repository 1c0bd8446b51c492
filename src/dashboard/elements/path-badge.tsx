import { linkTo } from "../route.js";

/** The kind of an exit, which gives it its colour: by the status in its path id. */
export function toneOf(pathId: string): "success" | "key" | "access" | "limit" | "fault" | "other" {
  if (pathId.startsWith("2")) return "success";
  if (pathId.startsWith("401")) return "key";
  if (pathId.startsWith("403")) return "access";
  if (pathId.startsWith("429")) return "limit";
  return pathId.startsWith("fault") ? "fault" : "other";
}

/** A path id, in the colour of its kind. */
export function PathBadge({ pathId }: { readonly pathId: string }) {
  return <code class={`path-badge tone-${toneOf(pathId)}`}>{pathId}</code>;
}

/** That a fault of the sandbox changed or delayed the response, with the way to it; nothing without a fault. */
export function OwnFault({ fault }: { readonly fault: string | null }) {
  if (fault === null) return null;
  return (
    <>
      , <a href={linkTo("faults")}>caused by this sandbox's own fault</a>
    </>
  );
}
