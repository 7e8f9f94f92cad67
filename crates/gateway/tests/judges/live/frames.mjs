// Frames of one stream, told so that two readers of one kind can be compared.
import assert from 'node:assert/strict';
import { Page } from './page.mjs';

export const VIEWS = ['latest', 'steps', 'bubbles', 'transcript', 'sentences'];

// Every kind of stream: each view in its own frames and in patches, and with text in increments.
export const KINDS = [
  ...VIEWS.flatMap((view) => [{ view, format: 'own' }, { view, format: 'patch' }]),
  { view: 'latest', format: 'own', content: 'delta' },
  { view: 'bubbles', format: 'own', content: 'delta' },
];

export const query = (kind) => new URLSearchParams({ ...kind, from: 'start', protocol: '2' }).toString();

// Every name that a view's own frames have, and those about the stream itself.
export const NAMES = [
  'user', 'ask', 'ask-resolved', 'image', 'citation', 'thinking', 'withdrawn', 'snapshot', 'queued', 'started',
  'streaming', 'tool', 'final_message_start', 'assistant', 'completed', 'failed', 'cancelled', 'truncated', 'stalled',
  'interrupted', 'overlay', 'text', 'segment', 'entry', 'finalized', 'delta', 'tool-start', 'tool-end', 'final', 'error',
  'aborted', 'message', 'append', 'settled', 'text-delta', 'text-message', 'action', 'finish', 'stream', 'closed',
];

export const isEnding = ({ data }) => typeof data === 'object' && ('outcome' in data || 'ended' in data);

// Appends in a row to one item, joined, as the gateway may join them; cursors left out.
export function joined(kind, frames) {
  const page = new Page();
  const list = [];
  let open;
  for (const { event, data } of frames) {
    const [target, text] = kind.format === 'patch' ? patchAppend(page, data) : ownAppend(event, data);
    if (kind.format === 'patch') page.apply(data);
    if (kind.format === 'patch' && typeof data === 'object' && 'next' in data) {
      // It begins an item, and what is appended to that may be in it already.
      open = { target: `item ${page.lastKey()}`, text: data.next };
      list.push(['next', data.at_ms], [open.target, open.text]);
      continue;
    }
    if (target !== undefined && open?.target === target) {
      open.text = text.whole ? text : open.text + text;
      list[list.length - 1] = [target, open.text];
      continue;
    }
    open = target === undefined ? undefined : { target, text };
    list.push(target === undefined ? [event, data] : [target, text]);
  }
  return list;
}

function patchAppend(page, data) {
  const key = page.appendsTo(data);
  return key === undefined ? [] : [`item ${key}`, data.t ?? data];
}

// An accumulated frame stands for all before it.
function ownAppend(event, data) {
  const whole = () => [`${event} ${data.run} ${data.id}`, { whole: data }];
  if (event === 'assistant') return data.replace && 'delta' in data ? [] : 'delta' in data ? [`${event} ${data.run} ${data.id}`, data.delta] : whole();
  if (event === 'delta') {
    return data.append ? [`${event} ${data.run} ${data.id}`, data.message.content[0].text] : whole();
  }
  if (event === 'text' && !('id' in data) && !data.replace) return [`${event} ${data.run} ${data.round} ${data.index}`, data.delta];
  if (event === 'append') return [`${event} ${data.run} ${data.index}`, data.text];
  if (event === 'text-delta') return [`${event} ${data.run} ${data.id}`, data.delta];
  return [];
}

// No gap, no repeat, nothing out of order: what came is the whole, however often it was cut. A reader
// that was there while it grew has all frames of one that comes later, and more between them, because
// appends are joined for the latter.
export function sameStream(kind, got, whole) {
  const places = new Map(got.map(({ id }, at) => [id, at]));
  assert.equal(places.size, got.length, 'a frame came again');
  let last = -1;
  for (const { id } of whole) {
    const place = places.get(id);
    assert.notEqual(place, undefined, `${id} did not come`);
    assert.ok(last < place, `${id} came late`);
    last = place;
  }
  assert.deepEqual(joined(kind, got), joined(kind, whole));
}

export function pictureOf(frames) {
  const page = new Page();
  for (const { data } of frames) page.apply(data);
  return page.picture();
}

// What the agent says on a page, from the view's own frames and from a snapshot: one list each.
export function textsOf(view, frames) {
  const texts = new Map();
  for (const { event, data } of frames) {
    if (view === 'latest' && 'outcome' in data && data.reply === 'message') texts.set(data.run, data.content);
    if (view === 'bubbles' && 'messages' in data) {
      for (const [at, { content }] of data.messages.entries()) texts.set(`${data.run} ${at}`, content.map(({ text }) => text).join(''));
    }
    if (view === 'steps' && event === 'text') {
      const key = `${data.run} ${data.round} ${data.index}`;
      texts.set(key, (data.replace ? '' : texts.get(key) ?? '') + data.delta);
    }
    if (view === 'transcript' && event === 'message' && data.type === 'say') texts.set(data.index, data);
    if (view === 'sentences' && event === 'text-message') texts.set(`${data.run} ${data.id}`, data.content);
  }
  const said = [...texts.values()].map((text) => (typeof text === 'object' ? spoken(text) : text));
  return said.filter(Boolean);
}

const spoken = ({ say, text }) => (['text', 'completion_result'].includes(say) ? text : '');

export const textsOn = (picture) =>
  Object.values(picture.items).filter(({ kind }) => kind === 'text').map(({ text }) => text).filter(Boolean);
