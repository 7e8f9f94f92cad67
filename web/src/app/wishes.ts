// What a person can have done with a chat that is there: named, pinned, put away, shared, taken along.
// Each says what came of it; what was removed can be brought back.

import type { Session } from "@millpond/client";
import type { Format } from "../doing/export.ts";
import type { AppElement } from "./app.ts";
import type { SessionWish } from "./sidebar.ts";

export async function fulfil(app: AppElement, wish: SessionWish, session: Session): Promise<void> {
  const { gateway, words } = app;
  switch (wish) {
    case "open":
      return app.go(session.id);
    case "rename":
      return app.dialogs?.ask(words.rename, session.title, (title) => void app.trying(gateway.changeSession(session.id, { title })));
    case "pin":
      return void (await app.trying(gateway.changeSession(session.id, { pinned: !session.pinned })));
    case "archive":
      return void (await app.trying(gateway.changeSession(session.id, { archived: !session.archived })));
    case "remove":
      return remove(app, session);
  }
}

async function remove(app: AppElement, { id, title }: Session): Promise<void> {
  const { gateway, words } = app;
  if (!(await app.trying(gateway.deleteSession(id)))) return;
  if (id === app.session) app.start();
  const bringBack = () => gateway.restoreSession(id).then(() => app.go(id));
  app.tell(words.removed(title || words.untitled), { label: words.undo, run: () => void app.trying(bringBack()) });
}

/** Of the chat that is open. */
export async function share({ gateway, session, words, dialogs, trying }: AppElement): Promise<void> {
  const { Sharing } = await import("./sharing.ts");
  if (session && dialogs) await trying(new Sharing(gateway, session, words, dialogs, trying).open());
}

/** Takes the chat that is open along as a file. */
export async function exportAs(app: AppElement, format: Format): Promise<void> {
  const [{ download, exported }, { picturesOf }] = await Promise.all([import("../doing/export.ts"), import("../doing/export-pictures.ts")]);
  const { session, words, gateway, currentSession } = app;
  const page = app.chat?.page;
  if (!page || !session) return;
  const told = { title: currentSession?.title ?? "", language: document.documentElement.lang, words };
  await download(exported(page, format, { ...told, picturesOf: (item) => picturesOf(item, gateway, session) }));
}

/** What the chat that is open has cost. */
export async function tellUsage(app: AppElement): Promise<void> {
  const { session, gateway, words } = app;
  if (!session) return;
  const ask = async () => {
    const { tokens_in, tokens_out, cost_micro_usd } = await gateway.usage(session);
    const cost = cost_micro_usd ? `$${(cost_micro_usd / 1e6).toFixed(4)}` : words.noPrice;
    app.tell(words.usageOf(words.count(tokens_in), words.count(tokens_out), cost));
  };
  await app.trying(ask());
}
