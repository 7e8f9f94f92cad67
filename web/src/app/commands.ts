// The commands of the palette and of the slash menu.

import { VIEWS } from "@millpond/client";
import type { Command } from "../actions/command.ts";
import { LANGUAGES } from "../i18n/strings.ts";
import type { AppElement } from "./app.ts";
import { readPreferences, type Theme } from "./browser-storage.ts";
import { MENU_ACTIONS, exportChat, openShareDialog, runSessionAction, sessionActionLabel, showUsage } from "./session-actions.ts";

/** All commands that apply to the current route. */
export function buildCommands(app: AppElement): Command[] {
  const isReadOnly = app.route.kind === "shared";
  return [...(isReadOnly ? [] : chatCommands(app)), ...viewCommands(app), ...(app.sessionId ? sessionCommands(app, isReadOnly) : []), ...preferenceCommands(app, isReadOnly)];
}

function chatCommands(app: AppElement): Command[] {
  const { strings } = app;
  const chats = app.sessionList.sessions.map(({ id, title }) => ({ id: `chat-${id}`, title: title || strings.untitled, run: () => app.openSession(id) }));
  return [{ id: "new", title: strings.newChat, run: () => app.openStartPage() }, ...chats];
}

function viewCommands(app: AppElement): Command[] {
  const { strings } = app;
  return VIEWS.map((view) => ({
    id: view,
    title: `${strings.view}: ${strings.views[view]}, ${strings.viewDescriptions[view]}`,
    run: () => app.setView(view),
  }));
}

function sessionCommands(app: AppElement, isReadOnly: boolean): Command[] {
  const { strings, sessionId, currentSession } = app;
  const exports: Command[] = [
    { id: "markdown", title: strings.exportMarkdown, run: () => void app.toastErrors(exportChat(app, "markdown")) },
    { id: "json", title: strings.exportJson, run: () => void app.toastErrors(exportChat(app, "json")) },
    { id: "html", title: strings.exportHtml, run: () => void app.toastErrors(exportChat(app, "html")) },
    { id: "end", title: strings.scrollToEnd, run: () => app.chatElement?.scrollToEnd() },
  ];
  if (isReadOnly) return exports;
  const sessionActions = MENU_ACTIONS.map((action) => ({
    id: action,
    title: sessionActionLabel(action, currentSession, strings),
    run: () => void (currentSession && runSessionAction(app, action, currentSession)),
  }));
  return [
    { id: "stop", title: strings.stop, run: () => void app.chatElement?.stop() },
    { id: "retry", title: strings.retry, run: () => void app.chatElement?.retryLast() },
    ...exports,
    { id: "share", title: strings.shareSession, run: () => void app.toastErrors(openShareDialog(app)) },
    { id: "replay", title: strings.openReplay, run: () => void window.open(`/theatre/${sessionId ?? ""}`, "_blank", "noopener") },
    { id: "usage", title: strings.showUsage, run: () => void showUsage(app) },
    ...sessionActions,
  ];
}

function preferenceCommands(app: AppElement, isReadOnly: boolean): Command[] {
  const { strings } = app;
  const themes = (["system", "light", "dark"] as const).map((theme: Theme) => ({
    id: theme,
    title: `${strings.theme}: ${strings.themes[theme]}`,
    run: () => app.setTheme(theme),
  }));
  const languages = Object.entries(LANGUAGES).map(([id, name]) => ({ id, title: `${strings.language}: ${name}`, run: () => void app.setLanguage(id) }));
  const { notify } = readPreferences();
  const notifications = isReadOnly ? [] : [{ id: "notify", title: notify ? strings.disableNotifications : strings.enableNotifications, run: () => void app.setNotifications(!notify) }];
  return [{ id: "thinking", title: strings.toggleThinking, run: () => app.setShowThinking(!app.showThinking) }, ...notifications, ...themes, ...languages];
}
