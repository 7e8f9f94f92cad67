// Stream of changes to the session list.

import type { GatewayClient, GatewayError, Session } from "./gateway-client.ts";
import { StreamConnection, systemClock, type Clock, type ConnectionState } from "./stream-connection.ts";

/** Callbacks of the session list stream. */
export interface SessionListHandlers {
  /** A session was created or changed. */
  onSession(session: Session): void;
  /** Changes may have been missed: reload the list. */
  onRelist(): void;
  /** Nothing changed; the connection is alive. */
  onHeartbeat?(): void;
  onState?(state: ConnectionState, why?: GatewayError): void;
}

/** Follows the session list over a reconnecting stream. */
export class SessionListStream {
  private readonly connection: StreamConnection;

  constructor(gateway: GatewayClient, handlers: SessionListHandlers, clock: Clock = systemClock) {
    this.connection = new StreamConnection(
      gateway,
      {
        nextRequest: () => ({ path: "/v1/sessions/stream", headers: {} }),
        onEvent: ({ event, data }) => {
          if (event === "relist") handlers.onRelist();
          else if (event === "session") handlers.onSession(JSON.parse(data) as Session);
        },
        onComment: () => handlers.onHeartbeat?.(),
        onState: (state, why) => handlers.onState?.(state, why),
      },
      clock,
    );
  }

  open(): void {
    this.connection.open();
  }

  close(): void {
    this.connection.close();
  }

  reconnect(silentForMs = 0): void {
    this.connection.reconnect(silentForMs);
  }
}
