// A gateway that says what a test wants, and a clock that stands still until it is told.

import { Gateway, type Clock } from "../src/index.ts";

export interface Call {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
  signal: AbortSignal | undefined;
}

export function scripted(answer: (call: Call, place: number) => Response | Promise<Response>) {
  const calls: Call[] = [];
  const gateway = new Gateway({
    fetch: async (input, init = {}) => {
      const call: Call = {
        method: init.method ?? "GET",
        path: String(input),
        headers: init.headers as Record<string, string>,
        body: typeof init.body === "string" ? JSON.parse(init.body) : init.body,
        signal: init.signal ?? undefined,
      };
      calls.push(call);
      return answer(call, calls.length - 1);
    },
  });
  return { gateway, calls };
}

/** A stream that a test writes to. */
export function written() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (it) => void (controller = it) });
  return {
    response: new Response(body),
    write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    break: () => controller?.error(new TypeError("network error")),
  };
}

export class HandClock implements Clock {
  private at = 0;
  private timers: { due: number; work: () => void }[] = [];

  now(): number {
    return this.at;
  }

  later(work: () => void, ms: number): unknown {
    const timer = { due: this.at + ms, work };
    this.timers.push(timer);
    return timer;
  }

  forget(timer: unknown): void {
    this.timers = this.timers.filter((other) => other !== timer);
  }

  chance(): number {
    return 1;
  }

  async pass(ms: number): Promise<void> {
    const end = this.at + ms;
    for (;;) {
      const next = this.timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (!next) break;
      this.at = next.due;
      this.forget(next);
      next.work();
      await settled();
    }
    this.at = end;
  }
}

/** All that was going to happen without the clock has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
}
