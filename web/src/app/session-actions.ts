// Actions on a session: open, rename, pin, archive, delete, share, export, usage.

import type { Session } from "@millpond/client";
import type { Format } from "../actions/export.ts";
import type { Strings } from "../i18n/strings.ts";
import type { AppElement } from "./app.ts";

/** Actions in the menu of a session. */
export const MENU_ACTIONS = ["rename", "pin", "archive", "delete"] as const;
type MenuAction = (typeof MENU_ACTIONS)[number];
export type SessionAction = MenuAction | "open";

/** Label of an action; pin and archive toggle. */
export function sessionActionLabel(action: SessionAction, session: Session | undefined, strings: Strings): string {
  switch (action) {
    case "open":
      return session?.title || strings.untitled;
    case "rename":
      return strings.rename;
    case "pin":
      return session?.pinned ? strings.unpin : strings.pin;
    case "archive":
      return session?.archived ? strings.unarchiveSession : strings.archiveSession;
    case "delete":
      return strings.deleteSession;
  }
}

export async function runSessionAction(app: AppElement, action: SessionAction, session: Session): Promise<void> {
  const { gateway, strings } = app;
  switch (action) {
    case "open":
      return app.openSession(session.id);
    case "rename":
      return app.dialogs?.promptText(strings.rename, session.title, (title) => void app.toastErrors(gateway.updateSession(session.id, { title })));
    case "pin":
      return void (await app.toastErrors(gateway.updateSession(session.id, { pinned: !session.pinned })));
    case "archive":
      return void (await app.toastErrors(gateway.updateSession(session.id, { archived: !session.archived })));
    case "delete":
      return deleteSession(app, session);
  }
}

/** Deletes the session and offers to undo that. */
async function deleteSession(app: AppElement, { id, title }: Session): Promise<void> {
  const { gateway, strings } = app;
  if (!(await app.toastErrors(gateway.deleteSession(id)))) return;
  if (id === app.sessionId) app.openStartPage();
  const restore = () => gateway.restoreSession(id).then(() => app.openSession(id));
  app.showToast(strings.sessionDeleted(title || strings.untitled), { label: strings.undo, run: () => void app.toastErrors(restore()) });
}

/** Opens the share dialog of the current session. */
export async function openShareDialog({ gateway, sessionId, strings, dialogs, toastErrors }: AppElement): Promise<void> {
  const { ShareDialog } = await import("./share-dialog.ts");
  if (sessionId && dialogs) await toastErrors(new ShareDialog(gateway, sessionId, strings, dialogs, toastErrors).open());
}

/** Downloads the current page as a file. */
export async function exportChat(app: AppElement, format: Format): Promise<void> {
  const [{ downloadExport, exportPage }, { loadImageDataUrls }] = await Promise.all([import("../actions/export.ts"), import("../actions/export-images.ts")]);
  const { sessionId, strings, gateway, currentSession } = app;
  const page = app.chatElement?.page;
  if (!page || !sessionId) return;
  const options = { title: currentSession?.title ?? "", language: document.documentElement.lang, strings };
  await downloadExport(exportPage(page, format, { ...options, loadImages: (item) => loadImageDataUrls(item, gateway, sessionId) }));
}

/** Shows tokens and cost of the current session. */
export async function showUsage(app: AppElement): Promise<void> {
  const { sessionId, gateway, strings } = app;
  if (!sessionId) return;
  const fetchAndShow = async () => {
    const { tokens_in, tokens_out, cost_micro_usd } = await gateway.getUsage(sessionId);
    const cost = cost_micro_usd ? `$${(cost_micro_usd / 1e6).toFixed(4)}` : strings.priceUnknown;
    app.showToast(strings.usageSummary(strings.formatNumber(tokens_in), strings.formatNumber(tokens_out), cost));
  };
  await app.toastErrors(fetchAndShow());
}
