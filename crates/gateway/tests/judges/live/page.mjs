// What is left of an item that was withdrawn.
function empty(item) {
  for (const field of ['text', 'arguments', 'result', 'label', 'description', 'steps', 'images', 'citations']) delete item[field];
  item.state = 'withdrawn';
}

function findCall(item, call) {
  if (item.kind !== 'steps' && item.id === call) return item;
  for (const step of item.steps ?? []) {
    const found = findCall(step, call);
    if (found !== undefined) return found;
  }
  return undefined;
}

function merge(call, result) {
  if (result.state === 'withdrawn') return empty(call);
  call.state = result.state;
  const output = result.kind === 'entry' ? result.text : result.result;
  if (output) call.result = output;
  for (const field of ['label', 'description']) if (result[field] !== undefined) call[field] = result[field];
  if (result.arguments) call.arguments = (call.arguments ?? '') + result.arguments;
  if (result.ran_for_ms !== undefined) call.ran_for_ms = (call.ran_for_ms ?? 0) + result.ran_for_ms;
  for (const field of ['images', 'citations']) if (result[field]?.length) (call[field] ??= []).push(...result[field]);
  for (const step of result.steps ?? []) {
    const known = (call.steps ??= []).find(({ id }) => id === step.id);
    if (known === undefined) call.steps.push(step);
    else merge(known, step);
  }
}

// A page made of patches, as `docs/PROTOCOL.md` tells a client to.
export class Page {
  items = new Map();
  settled = { count: 0, bytes: 0 };
  overlay = undefined;
  status = { doing: 'idle' };
  label = undefined;
  asks = [];
  ended = undefined;

  lastKey() {
    return Math.max(...this.items.keys());
  }

  // Which item a patch appends to, if that is all it does.
  appendsTo(patch) {
    if (typeof patch === 'string') return this.lastKey();
    return 't' in patch && !('keep' in patch) ? patch.i : undefined;
  }

  apply(patch) {
    const key = this.appendsTo(patch);
    if (key !== undefined) this.#grow(key, patch.t ?? patch);
    else if ('put' in patch) this.items.set(patch.i, structuredClone(patch.put));
    else if ('next' in patch) this.#next(patch);
    else if ('keep' in patch) this.#rewrite(patch);
    else if ('state' in patch) this.items.get(patch.i).state = patch.state;
    else if ('call' in patch) this.#addResult(patch);
    else if ('description' in patch) this.items.get(patch.i).description = patch.description;
    else if ('image' in patch) (this.items.get(patch.i).images ??= []).push(patch.image);
    else if ('citation' in patch) (this.items.get(patch.i).citations ??= []).push(patch.citation);
    else if ('remove' in patch) this.items.delete(patch.i);
    else if ('withdrawn' in patch) patch.withdrawn.forEach((gone) => this.#withdraw(gone));
    else if ('settled' in patch) [this.settled.count, this.settled.bytes] = patch.settled;
    else if ('overlay' in patch) this.overlay = patch.overlay ?? undefined;
    else if ('status' in patch) Object.assign(this, { status: patch.status, label: patch.label, ended: undefined });
    else if ('ask' in patch) this.asks.push(patch.ask);
    else if ('resolved' in patch) this.#resolve(patch.resolved);
    else if ('ended' in patch) this.#end(patch);
    else if (!('closed' in patch)) throw new Error(`no patch: ${JSON.stringify(patch)}`);
  }

  #grow(key, text) {
    const item = this.items.get(key);
    item.text = (item.text ?? '') + text;
  }

  #next({ next, at_ms }) {
    const last = this.lastKey();
    const { kind, run, id } = this.items.get(last);
    this.items.get(last).state = 'done';
    const item = { kind, run, id: id.replace(/\d*$/, (number) => Number(number) + 1), state: 'live', text: next };
    this.items.set(last + 1, at_ms === undefined ? item : { ...item, at_ms });
  }

  #rewrite({ i, keep, t }) {
    const item = this.items.get(i);
    item.text = Buffer.from(item.text ?? '').subarray(0, keep).toString() + t;
  }

  #withdraw(key) {
    const item = this.items.get(key);
    if (item !== undefined) empty(item);
  }

  #addResult({ i, call, result }) {
    const found = this.items.has(i) ? findCall(this.items.get(i), call) : undefined;
    if (found !== undefined) merge(found, result);
  }

  #resolve({ run, id }) {
    this.asks = this.asks.filter((ask) => ask.run !== run || ask.id !== id);
  }

  #end({ ended, label }) {
    Object.assign(this, { ended, label, overlay: undefined, status: { doing: 'idle' } });
  }

  // As a snapshot has it: what says nothing is left out.
  picture() {
    const items = Object.fromEntries([...this.items].sort(([a], [b]) => a - b).map(([key, item]) => {
      const { text, ...rest } = item;
      return [key, text ? { ...rest, text } : rest];
    }));
    const whole = { items, settled: this.settled, overlay: this.overlay, status: this.status, label: this.label, ended: this.ended };
    if (this.asks.length > 0) whole.asks = this.asks;
    return JSON.parse(JSON.stringify(whole));
  }
}
