// Fakes for tests: a scripted gateway, a writable response body, a manual clock.

import { GatewayClient, type Clock } from "../src/index.ts";

/** A request the fake gateway received. */
export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
  signal: AbortSignal | undefined;
}

/** A gateway client whose responses come from `respond`; records all requests. */
export function fakeGateway(respond: (request: RecordedRequest, index: number) => Response | Promise<Response>) {
  const requests: RecordedRequest[] = [];
  const gateway = new GatewayClient({
    fetch: async (input, init = {}) => {
      const request: RecordedRequest = {
        method: init.method ?? "GET",
        path: String(input),
        headers: init.headers as Record<string, string>,
        body: typeof init.body === "string" ? JSON.parse(init.body) : init.body,
        signal: init.signal ?? undefined,
      };
      requests.push(request);
      return respond(request, requests.length - 1);
    },
  });
  return { gateway, requests };
}

/** A response whose body the test writes. */
export function writableResponse() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (created) => void (controller = created) });
  return {
    response: new Response(body),
    write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    break: () => controller?.error(new TypeError("network error")),
  };
}

/** A clock that moves only when `advance` is called. */
export class ManualClock implements Clock {
  private time = 0;
  private timers: { due: number; work: () => void }[] = [];

  now(): number {
    return this.time;
  }

  setTimer(work: () => void, ms: number): unknown {
    const timer = { due: this.time + ms, work };
    this.timers.push(timer);
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.timers = this.timers.filter((other) => other !== timer);
  }

  random(): number {
    return 1;
  }

  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (!next) break;
      this.time = next.due;
      this.clearTimer(next);
      next.work();
      await flushAsyncWork();
    }
    this.time = end;
  }
}

/** Lets all pending promises and tasks finish. */
export async function flushAsyncWork(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((done) => setImmediate(done));
}
