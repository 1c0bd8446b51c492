import type { Shown } from "../../control/responses.js";
import { Detail } from "../../elements/detail.js";
import { aboutPaths, DocsLink } from "../../elements/docs-link.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { linkTo } from "../../route.js";
import { SendNow } from "./send-now.js";

interface PathDetailProps {
  readonly path: Shown<"Report">["paths"][number];
  readonly report: Shown<"Report">;
}

/** What a path means, who has covered it, and how to. It gets the focus. */
export function PathDetail({ path, report }: PathDetailProps) {
  const { path_id: pathId, when, count, how_to_cover: how } = path;
  return (
    <Detail
      label={`Outcome ${pathId}`}
      title={<PathBadge pathId={pathId} />}
      back={linkTo("overview")}
      returnTo={[`[data-path="${CSS.escape(pathId)}"]`]}
    >
      <p>
        The cause: {when}. <DocsLink to={aboutPaths}>About {pathId}</DocsLink>
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
          <SendNow key={pathId} how={how} pathId={pathId} />
        </>
      )}
    </Detail>
  );
}
