import { useEffect, useRef } from "preact/hooks";
import { isPanelOpen } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { aboutPath, DocsLink } from "../../elements/docs-link.js";
import { useKeyboard } from "../../elements/keyboard.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { linkTo } from "../../route.js";
import { SendNow } from "./send-now.js";

interface PathDetailProps {
  readonly path: Shown<"Report">["paths"][number];
  readonly report: Shown<"Report">;
}

/** What a path means, who has covered it, and how to. It gets the focus. */
export function PathDetail({ path, report }: PathDetailProps) {
  const { path_id: pathId, when, count, how_to_meet: how } = path;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), [pathId]);
  useKeyboard(({ key, target }) => {
    if (key !== "Escape" || (target as Element).closest("dialog") !== null) return;
    location.hash = linkTo("overview");
    // On a narrow page it is hidden until then.
    const focus = () => document.querySelector<HTMLElement>(`[data-path="${CSS.escape(pathId)}"]`)?.focus();
    setTimeout(focus);
  });
  return (
    <section class="panel stack detail" aria-label={`Outcome ${pathId}`} ref={panel} tabIndex={-1}>
      <header class="bar apart">
        <h2>
          <PathBadge pathId={pathId} />
        </h2>
        <a href={linkTo("overview")}>Close</a>
      </header>
      <p>
        The cause: {when}. <DocsLink to={aboutPath(pathId)}>About {pathId}</DocsLink>
      </p>
      <p>
        Client requests: {count.toLocaleString("en")}. Story and this page:{" "}
        {(report.from_story?.[pathId] ?? 0).toLocaleString("en")}.{" "}
        {report.in_journal?.[pathId] ? (
          <a href={linkTo("requests", [], { path: pathId })}>Show these requests</a>
        ) : null}
      </p>
      {how === null ? null : (
        <>
          <p>
            <strong>How to cover it:</strong> {how.text}.
          </p>
          <SendNow key={pathId} how={how} pathId={pathId} isQuiet={isPanelOpen()} />
        </>
      )}
    </section>
  );
}
