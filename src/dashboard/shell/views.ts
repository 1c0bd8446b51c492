import type { ComponentType } from "preact";
import { instanceId } from "../control/call.js";
import { collections } from "../control/resources.js";

interface PageView {
  readonly name: string;
  readonly title: string;
  /** Loads its files when it is shown for the first time. */
  readonly load: () => Promise<ComponentType>;
  /** Whether the navigation has a link to it. Default: always. */
  readonly isShown?: () => boolean;
}

export const views: readonly PageView[] = [
  view("Overview", async () => (await import("../views/overview/overview-view.js")).OverviewView),
  view("Requests", async () => (await import("../views/requests/requests-view.js")).RequestsView),
  view("Keys", async () => (await import("../views/keys/keys-view.js")).KeysView),
  view("Time", async () => (await import("../views/time/time-view.js")).TimeView),
  view("Story", async () => (await import("../views/story/story-view.js")).StoryView),
  view("Scenario", async () => (await import("../views/scenario/scenario-page.js")).ScenarioPage),
  view("Faults", async () => (await import("../views/faults/faults.js")).FaultsView),
  {
    ...view("Records", async () => (await import("../views/records/records-view.js")).RecordsView),
    isShown: () => (collections.data.value ?? []).length > 0,
  },
  {
    ...view("Instances", async () => (await import("../views/instances/instances-view.js")).InstancesView),
    // Instances cannot contain instances.
    isShown: () => instanceId === undefined,
  },
];

function view(title: string, load: PageView["load"]): PageView {
  return { name: title.toLowerCase(), title, load };
}
