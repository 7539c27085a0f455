// What the parts of the playground share.
import type { Looks } from "../looks.ts";
import type { Scores } from "./scores.ts";
import type { Patch, Side, State } from "./state.ts";

export interface Playground {
  readonly state: State;
  readonly scores: Scores;
  readonly looks: Looks;
  /** The document that the toolbar acts on. */
  readonly selected: { side: Side; id: string } | null;
  /** Changes the state; a screen reader reads what is said, followed by the scores. */
  set(patch: Patch, said?: string): void;
  select(side: Side, id: string | null): void;
  /** Draws at once what waits for the next frame. */
  now(): void;
}

export const LISTS = ["List 1", "List 2"] as const;
