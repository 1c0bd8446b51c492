import { effect, signal } from "@preact/signals";

const name = "svc-sandbox actor";

/** The actor on the Keys page (R33), stored for this tab. */
export const actor = signal<"administrator" | "member">(
  sessionStorage.getItem(name) === "member" ? "member" : "administrator",
);

effect(() => sessionStorage.setItem(name, actor.value));
