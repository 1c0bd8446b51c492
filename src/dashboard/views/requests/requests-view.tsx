import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { baseUrl } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { curlLine, journal, report, requestChecks } from "../../control/resources.js";
import { Select } from "../../elements/forms/select.js";
import { RequestTable } from "../../elements/traffic/request-table.js";
import { counted } from "../../elements/words.js";
import { changeQuery, linkTo, route } from "../../route.js";
import { chosen, filterNames, goOn, hold, isHeld, newCount, pathIds, requests } from "./chosen.js";
import { RequestDetail } from "./request-detail.js";

export function RequestsView() {
  useResources(journal);
  useEffect(() => goOn, []);
  const opened = route.value.parts[0];
  return (
    <>
      <h1>Requests</h1>
      <Filters />
      <div class={opened === undefined ? "split" : "split with-detail"}>
        <div class="panel stack">
          <ListHead />
          {chosen.value.length === 0 ? <Nothing /> : <RequestList />}
        </div>
        {opened === undefined ? null : <RequestDetail id={opened} />}
      </div>
    </>
  );
}

const drawnAtOnce = 100;

/** A hundred requests, and more when somebody asks for them. */
function RequestList() {
  const max = useSignal(drawnAtOnce);
  const left = chosen.value.length - max.value;
  return (
    <div class="stack request-list">
      <RequestTable
        label="List of requests"
        requests={chosen.value.slice(0, max.value)}
        opened={route.value.parts[0]}
      />
      {left <= 0 ? null : (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            max.value += drawnAtOnce;
          }}
        >
          Show {Math.min(left, drawnAtOnce)} more
        </button>
      )}
    </div>
  );
}

function ListHead() {
  const shown = chosen.value.length;
  const all = requests.value.length;
  return (
    <div class="bar">
      <button type="button" class="quiet" aria-pressed={isHeld.value} onClick={isHeld.value ? goOn : hold}>
        {isHeld.value ? "Resume" : "Pause"}
      </button>
      {newCount.value === 0 ? null : (
        <button type="button" onClick={goOn}>
          {newCount.value.toLocaleString("en")}
          {newCount.value === 1000 ? " or more" : ""} new
        </button>
      )}
      <span class="muted">
        {shown === all ? "" : `${shown.toLocaleString("en")} of `}
        {all === 1000 ? `${shown === all ? "Last" : "last"} 1,000 requests` : counted(all, "request")}
      </span>
      {isFiltered() ? <a href={linkTo("requests", route.value.parts)}>Remove the filters</a> : null}
    </div>
  );
}

const isFiltered = () => filterNames.some((name) => route.value.query.get(name));

function Nothing() {
  if (isFiltered()) {
    const all = requests.value.length;
    return <p>{all === 0 ? "No requests yet, and filters are set." : "No requests match these filters."}</p>;
  }
  return (
    <div class="stack">
      <p>No requests yet. Point your client at this base URL, or send a request from a shell:</p>
      <pre class="code">{curlLine(baseUrl)}</pre>
      <p>
        The <a href={linkTo("overview")}>overview</a> shows how to cover each path.
      </p>
    </div>
  );
}

const classes = [2, 4, 5].map((digit) => [`${digit}`, `${digit}xx`] as const);

function Filters() {
  useResources(report, requestChecks);
  const { query } = route.value;
  const value = (name: string) => query.get(name) ?? "";
  const choice = (label: string, name: string, of: Parameters<typeof Select>[0]["of"]) => (
    <Select
      label={label}
      value={value(name)}
      of={[["", "all"], ...of]}
      onChange={(next) => changeQuery({ [name]: next })}
    />
  );
  const advice = report.data.value?.advice.map(({ id }) => id) ?? [];
  const statuses = [...new Set(requests.value.map(({ status }) => status))].sort();
  const found = statuses.map((status) => [`${status}`, status === 0 ? "no response" : `${status}`] as const);
  return (
    <search class="bar">
      {choice("Path", "path", pathIds.value)}
      <label>
        Key or request id{" "}
        <input
          list="keys-that-occur"
          value={value("key")}
          onInput={({ currentTarget }) => changeQuery({ key: currentTarget.value })}
          placeholder="any"
        />
        <datalist id="keys-that-occur">
          {[...new Set(requests.value.map(({ key }) => key ?? "none"))].map((ref) => (
            <option key={ref} value={ref} />
          ))}
        </datalist>
      </label>
      {choice("Status", "status", [...classes, ...found])}
      {choice("Advice", "advice", [["any", "with any advice"], ...advice])}
    </search>
  );
}
