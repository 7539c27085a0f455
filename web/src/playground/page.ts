// The interface between the playground and its parts.
import type { Looks } from "../looks.ts";
import type { Scores } from "./scores.ts";
import type { Patch, Side, State } from "./state.ts";

export interface Playground {
  readonly state: State;
  readonly scores: Scores;
  readonly looks: Looks;
  /** The document to which the toolbar applies. */
  readonly selected: { side: Side; id: string } | null;
  /** Change the state; screen readers announce the message, followed by the scores. */
  set(patch: Patch, said?: string): void;
  select(side: Side, id: string | null): void;
  /** Draw pending changes at once. */
  now(): void;
}

export const LISTS = ["List 1", "List 2"] as const;
