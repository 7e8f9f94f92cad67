// The list of sessions as it stands: what was listed, and what changed since.

import type { Gateway, Session } from "@millpond/client";

export interface Listing {
  query: string;
  archived: boolean;
}

export class Sessions {
  list: Session[] = [];
  listing: Listing = { query: "", archived: false };
  more: string | undefined;
  private asked = 0;

  constructor(
    private readonly gateway: Gateway,
    private readonly changed: () => void,
  ) {}

  async read(listing: Listing = this.listing): Promise<void> {
    this.listing = listing;
    const asked = ++this.asked;
    const { sessions, next } = await this.gateway.sessions(asQuery(listing));
    // An answer that a later question has overtaken says nothing.
    if (asked !== this.asked) return;
    this.list = sessions;
    this.more = next;
    this.changed();
  }

  async readMore(): Promise<void> {
    if (!this.more) return;
    const { asked } = this;
    const { sessions, next } = await this.gateway.sessions({ ...asQuery(this.listing), before: this.more });
    if (asked !== this.asked) return;
    this.list = [...this.list, ...sessions.filter(({ id }) => !this.find(id))];
    this.more = next;
    this.changed();
  }

  /** Takes in what the gateway says of one session. */
  hear(session: Session): void {
    const shown = session.deleted_ms === undefined && session.archived === this.listing.archived;
    const others = this.list.filter(({ id }) => id !== session.id);
    const known = others.length < this.list.length;
    // What a search has not found is not shown because it changed.
    const fits = known || !this.listing.query;
    this.list = shown && fits ? [...others, session] : others;
    this.changed();
  }

  find(id: string): Session | undefined {
    return this.list.find((session) => session.id === id);
  }

  /** The pinned and the others, each with what changed last first. */
  parts(): { pinned: Session[]; others: Session[] } {
    const sorted = [...this.list].sort((one, other) => other.changed_ms - one.changed_ms || (other.id < one.id ? -1 : 1));
    return { pinned: sorted.filter(({ pinned }) => pinned), others: sorted.filter(({ pinned }) => !pinned) };
  }
}

function asQuery({ query, archived }: Listing) {
  return { ...(query && { query }), ...(archived && { archived }) };
}
