// What changes in the list of sessions, as it happens.

import type { Gateway, Refused, Session } from "./gateway.ts";
import { Line, realClock, type Clock, type LineState } from "./line.ts";

export interface NewsEnds {
  session(session: Session): void;
  /** Some were missed: the list is to be read again. */
  relist(): void;
  /** Nothing happened, and the line is alive. */
  beat?(): void;
  state?(state: LineState, why?: Refused): void;
}

export class News {
  private readonly line: Line;

  constructor(gateway: Gateway, ends: NewsEnds, clock: Clock = realClock) {
    this.line = new Line(
      gateway,
      {
        request: () => ({ path: "/v1/sessions/stream", headers: {} }),
        event: ({ event, data }) => {
          if (event === "relist") ends.relist();
          else if (event === "session") ends.session(JSON.parse(data) as Session);
        },
        comment: () => ends.beat?.(),
        state: (state, why) => ends.state?.(state, why),
      },
      clock,
    );
  }

  open(): void {
    this.line.open();
  }

  close(): void {
    this.line.close();
  }

  refresh(silentForMs = 0): void {
    this.line.refresh(silentForMs);
  }
}
