import type { ComponentType } from "preact";
import { instanceId } from "../control/call.js";
import { FaultsView } from "../views/faults/faults.js";
import { InstancesView } from "../views/instances/instances-view.js";
import { KeysView } from "../views/keys/keys-view.js";
import { OverviewView } from "../views/overview/overview-view.js";
import { RequestsView } from "../views/requests/requests-view.js";
import { ScenarioView } from "../views/scenario/scenario-view.js";
import { StoryView } from "../views/story/story-view.js";
import { TimeView } from "../views/time/time-view.js";

interface PageView {
  readonly title: string;
  readonly View: ComponentType;
  /** Whether the navigation has a link to it. Default: always. */
  readonly isShown?: () => boolean;
}

/** By their names in the address. */
export const views: Readonly<Record<string, PageView>> = {
  overview: { title: "Overview", View: OverviewView },
  requests: { title: "Requests", View: RequestsView },
  keys: { title: "Keys", View: KeysView },
  time: { title: "Time", View: TimeView },
  story: { title: "Story", View: StoryView },
  scenario: { title: "Scenario", View: ScenarioView },
  faults: { title: "Faults", View: FaultsView },
  // Instances cannot contain instances.
  instances: { title: "Instances", View: InstancesView, isShown: () => instanceId === undefined },
};
