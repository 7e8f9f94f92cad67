// The loaded part of the session list, kept up to date.

import type { GatewayClient, Session } from "@millpond/client";

/** What the list shows. */
export interface SessionFilter {
  query: string;
  archived: boolean;
}

/** Sessions matching the filter, in pages, with updates applied. */
export class SessionList {
  sessions: Session[] = [];
  filter: SessionFilter = { query: "", archived: false };
  /** Cursor of the next page, if there is one. */
  nextCursor: string | undefined;
  private loadCount = 0;

  constructor(
    private readonly gateway: GatewayClient,
    private readonly onChange: () => void,
  ) {}

  async load(filter: SessionFilter = this.filter): Promise<void> {
    this.filter = filter;
    const loadCount = ++this.loadCount;
    const { sessions, next } = await this.gateway.listSessions(toQuery(filter));
    // A newer load has begun: drop this response.
    if (loadCount !== this.loadCount) return;
    this.sessions = sessions;
    this.nextCursor = next;
    this.onChange();
  }

  async loadMore(): Promise<void> {
    if (!this.nextCursor) return;
    const { loadCount } = this;
    const { sessions, next } = await this.gateway.listSessions({ ...toQuery(this.filter), before: this.nextCursor });
    if (loadCount !== this.loadCount) return;
    this.sessions = [...this.sessions, ...sessions.filter(({ id }) => !this.find(id))];
    this.nextCursor = next;
    this.onChange();
  }

  /** Adds, replaces or removes one session after an update. */
  applyUpdate(session: Session): void {
    const isVisible = session.deleted_ms === undefined && session.archived === this.filter.archived;
    const others = this.sessions.filter(({ id }) => id !== session.id);
    const isListed = others.length < this.sessions.length;
    // A session that the search did not find is not added because it changed.
    const matches = isListed || !this.filter.query;
    this.sessions = isVisible && matches ? [...others, session] : others;
    this.onChange();
  }

  find(id: string): Session | undefined {
    return this.sessions.find((session) => session.id === id);
  }

  /** Pinned and other sessions, each sorted by last change, newest first. */
  partitionPinned(): { pinned: Session[]; others: Session[] } {
    const sorted = [...this.sessions].sort((one, other) => other.changed_ms - one.changed_ms || (other.id < one.id ? -1 : 1));
    return { pinned: sorted.filter(({ pinned }) => pinned), others: sorted.filter(({ pinned }) => !pinned) };
  }
}

function toQuery({ query, archived }: SessionFilter) {
  return { ...(query && { query }), ...(archived && { archived }) };
}
