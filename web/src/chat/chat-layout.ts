// Templates of a chat: page, status line, notes, asks, queue, composer.

import type { Ask, OutboxMessage } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import type { Strings } from "../i18n/strings.ts";
import type { ChatElement } from "./chat.ts";
import type { ChatHost } from "./chat-host.ts";
import { allowFileDrop, type ComposedMessage } from "./composer.ts";
import type { LateEdit, QueueUpdate } from "./queue.ts";
import { statusText } from "./status.ts";
import { waitingMessages } from "./waiting-messages.ts";

/** Why the session cannot be read any more. */
export type ClosedReason = "revoked" | "deleted" | "notFound" | "signedOut";

export function renderChat(chat: ChatElement): TemplateResult {
  const { strings, host, isDeleted, connection } = chat;
  const onDrop = (event: DragEvent) => attachDroppedFiles(chat, event);
  return html`<div class="scroller" tabindex="0" role="region" aria-label=${strings.conversation} @dragover=${host ? allowFileDrop : nothing} @drop=${host ? onDrop : nothing}>
      <div class="content">
        <div class="page view-${chat.view}" role="log" aria-live="off" aria-label=${strings.conversation}></div>
        ${renderWelcome(chat)} ${renderStatus(chat)}
      </div>
    </div>
    <div class="visually-hidden" aria-live="polite" data-announcer></div>
    <div class="input-area">
      ${chat.isFollowing ? nothing : html`<button type="button" class="scroll-to-end" @click=${() => chat.scrollToEnd()}>↓ ${chat.hasUnread ? strings.newBelow : strings.scrollToEnd}</button>`}
      ${isDeleted ? renderDeletedNote(chat) : renderConnectionNote(chat)} ${isDeleted || connection === "refused" ? nothing : renderInputArea(chat)}
    </div>`;
}

function attachDroppedFiles({ composer }: ChatElement, event: DragEvent): void {
  const files = [...(event.dataTransfer?.files ?? [])];
  // The composer handles files dropped on itself.
  if (event.defaultPrevented || !files.length || !composer) return;
  event.preventDefault();
  void composer.attachFiles(files);
}

function renderWelcome({ page, isRunning, connection, strings }: ChatElement): TemplateResult | typeof nothing {
  const isEmpty = page && !page.keys.length && !isRunning && connection === "open";
  return isEmpty ? html`<div class="welcome"><h2>${strings.welcome}</h2><p>${strings.welcomeHint}</p></div>` : nothing;
}

function renderStatus(chat: ChatElement): TemplateResult {
  const { page, strings, isRunning } = chat;
  const text = page ? statusText(page, strings) : "";
  const ended = page?.ended;
  const hasEnded = ended !== undefined;
  // A failure is an item with a button of its own.
  const retried = chat.host && ended?.outcome === "cancelled" && chat.hasMessage(ended.run) ? ended.run : undefined;
  return html`<div class="status ${hasEnded ? "ended" : ""} ${isRunning ? "running" : ""}">
    ${text ? html`<span class="pulse" aria-hidden="true"></span><span class="status-text" dir="auto">${text}</span>` : nothing}
    ${retried ? html`<button type="button" class="link-button" @click=${() => chat.retry(retried)}>${strings.retry}</button>` : nothing}
  </div>`;
}

function renderDeletedNote(chat: ChatElement): TemplateResult {
  const { strings, host } = chat;
  const restore = () => chat.dispatchEvent(new CustomEvent("restore-session"));
  return html`<p class="connection-note error" role="alert">${strings.chatDeleted}
    ${host ? html`<button type="button" class="link-button" @click=${restore}>${strings.restoreSession}</button>` : nothing}</p>`;
}

function renderConnectionNote({ closedReason, connection, strings }: ChatElement): TemplateResult | typeof nothing {
  if (closedReason) return html`<p class="connection-note error" role="alert">${closedText(closedReason, strings)}</p>`;
  return connection === "retrying" ? html`<p class="connection-note" role="status">${strings.offline}</p>` : nothing;
}

function closedText(reason: ClosedReason, strings: Strings): string {
  return { revoked: strings.linkRevoked, deleted: strings.chatDeleted, notFound: strings.chatNotFound, signedOut: strings.signedOut }[reason];
}

function renderInputArea(chat: ChatElement): TemplateResult {
  const { host, strings } = chat;
  if (!host) return html`<p class="muted read-only">${strings.readOnlyNote}</p>`;
  const focusComposer = () => focusUnlessTouch(chat);
  const queued = waitingMessages(chat.queued, chat.page);
  return html`<mp-asks
      .asks=${chat.page?.asks ?? []}
      .pendingKeys=${chat.pendingAnswers.pendingKeys}
      .strings=${strings}
      @answer=${({ detail: { ask, answer } }: CustomEvent<{ ask: Ask; answer: string }>) => void chat.pendingAnswers.submit(ask, answer)}
      @focus-lost=${focusComposer}
    ></mp-asks>
    <mp-queue
      .session=${chat.session}
      .queued=${queued}
      .outbox=${chat.unsentMessages.visible(chat.outbox, chat.page, queued)}
      .strings=${strings}
      @update-queue=${({ detail }: CustomEvent<QueueUpdate>) => void chat.updateQueue(detail)}
      @late-edit=${({ detail }: CustomEvent<LateEdit>) => chat.moveEditToDraft(host, detail)}
      @remove-unsent=${({ detail }: CustomEvent<OutboxMessage>) => host.removeFromOutbox(detail.key)}
      @edit-unsent=${({ detail }: CustomEvent<OutboxMessage>) => void chat.reportErrors(chat.editUnsent(host, detail))}
      @focus-lost=${focusComposer}
    ></mp-queue>
    ${renderComposer(chat, host)}`;
}

function renderComposer(chat: ChatElement, host: ChatHost): TemplateResult {
  return html`<mp-composer
    .strings=${chat.strings}
    .isRunning=${chat.isRunning}
    .isStopping=${chat.isStopping}
    .commands=${chat.commands}
    .draft=${chat.branchEdit?.draft ?? host.draftFor(chat.session)}
    .note=${chat.branchEdit ? chat.strings.branchNote : undefined}
    @send-message=${({ detail }: CustomEvent<ComposedMessage>) => void chat.sendMessage(detail)}
    @stop-run=${() => void chat.stop()}
    @cancel-note=${() => (chat.branchEdit = undefined)}
    @attach-failed=${({ detail }: CustomEvent<string>) => host.notify(detail)}
  ></mp-composer>`;
}

/** Not on touch screens, where a keyboard would open. */
function focusUnlessTouch({ composer }: ChatElement): void {
  if (!matchMedia("(pointer: coarse)").matches) composer?.focus();
}
