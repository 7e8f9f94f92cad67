// All that can be done by name.

import { VIEWS } from "@millpond/client";
import type { Command } from "../doing/commands.ts";
import { LANGUAGES } from "../words/words.ts";
import type { AppElement } from "./app.ts";
import { choices, type Theme } from "./kept.ts";
import { exportAs, fulfil, share, tellUsage } from "./wishes.ts";

export function commandsOf(app: AppElement): Command[] {
  const reads = app.place.what === "shared";
  return [...(reads ? [] : ofChats(app)), ...ofViews(app), ...(app.session ? ofSession(app, reads) : []), ...ofWindow(app, reads)];
}

function ofChats(app: AppElement): Command[] {
  const { words } = app;
  const chats = app.sessions.list.map(({ id, title }) => ({ id: `chat-${id}`, title: title || words.untitled, run: () => app.go(id) }));
  return [{ id: "new", title: words.newChat, run: () => app.start() }, ...chats];
}

function ofViews(app: AppElement): Command[] {
  const { words } = app;
  return VIEWS.map((view) => ({
    id: view,
    title: `${words.view}: ${words.views[view]}, ${words.viewMeans[view]}`,
    run: () => app.setView(view),
  }));
}

function ofSession(app: AppElement, reads: boolean): Command[] {
  const { words, session, currentSession } = app;
  const exports: Command[] = [
    { id: "markdown", title: words.exportMarkdown, run: () => void app.trying(exportAs(app, "markdown")) },
    { id: "json", title: words.exportJson, run: () => void app.trying(exportAs(app, "json")) },
    { id: "html", title: words.exportHtml, run: () => void app.trying(exportAs(app, "html")) },
    { id: "end", title: words.toTheEnd, run: () => app.chat?.toTheEnd() },
  ];
  if (reads) return exports;
  const wishes = (["rename", "pin", "archive", "remove"] as const).map((wish) => ({
    id: wish,
    title: { rename: words.rename, pin: currentSession?.pinned ? words.unpin : words.pin, archive: currentSession?.archived ? words.unarchive : words.archiveIt, remove: words.remove }[wish],
    run: () => void (currentSession && fulfil(app, wish, currentSession)),
  }));
  return [
    { id: "stop", title: words.stop, run: () => void app.chat?.stop() },
    { id: "retry", title: words.retry, run: () => void app.chat?.retry() },
    ...exports,
    { id: "share", title: words.share, run: () => void app.trying(share(app)) },
    { id: "theatre", title: words.theatre, run: () => void window.open(`/theatre/${session ?? ""}`, "_blank", "noopener") },
    { id: "usage", title: words.usage, run: () => void tellUsage(app) },
    ...wishes,
  ];
}

function ofWindow(app: AppElement, reads: boolean): Command[] {
  const { words } = app;
  const themes = (["system", "light", "dark"] as const).map((theme: Theme) => ({
    id: theme,
    title: `${words.theme}: ${words.themes[theme]}`,
    run: () => app.setTheme(theme),
  }));
  const languages = Object.entries(LANGUAGES).map(([id, name]) => ({ id, title: `${words.language}: ${name}`, run: () => void app.setLanguage(id) }));
  const { notify } = choices();
  const more = reads ? [] : [{ id: "notify", title: notify ? words.notifyOff : words.notify, run: () => void app.setNotify(!notify) }];
  return [{ id: "thinking", title: words.thinkingShown, run: () => app.setThinking(!app.thinking) }, ...more, ...themes, ...languages];
}
