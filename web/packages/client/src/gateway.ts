// The commands of a gateway (docs/GATEWAY.md), as calls.

import type { Picture, Snapshot, Thinking, View } from "./page.ts";

export interface Session {
  id: string;
  title: string;
  created_ms: number;
  changed_ms: number;
  head: number;
  pinned: boolean;
  archived: boolean;
  deleted_ms?: number;
  parent?: { session: string; head: number };
  /** The run that is going. */
  run: string | null;
  /** How many asks are open in it. */
  asks?: number;
}

export interface Waiting {
  id: string;
  text: string;
  /** Pictures that go with it. */
  images?: Picture[];
  accepted_ms: number;
}

export interface Run {
  id: string;
  session: string;
  first: number;
  last?: number;
  outcome: string | null;
}

export interface Usage {
  tokens_in: number;
  tokens_out: number;
  cost_micro_usd: number;
}

export interface Blob {
  digest: string;
  media_type: string;
  bytes: number;
  path: string;
}

/** An answer of the gateway that is no success. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Options {
  /** Where the gateway is; this page's own origin if it is empty. */
  base?: string;
  /** For programs and shared links; a browser that has logged in has a cookie. */
  token?: string;
  fetch?: typeof fetch;
}

type Body = { json: unknown } | { file: globalThis.Blob };

export class Gateway {
  readonly base: string;
  private readonly token: string | undefined;
  private readonly fetcher: typeof fetch;

  constructor({ base = "", token, fetch: fetcher }: Options = {}) {
    this.base = base.replace(/\/$/, "");
    this.token = token;
    this.fetcher = fetcher ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** Whether requests carry a token of their own: what a browser loads by itself has none. */
  get hasToken(): boolean {
    return this.token !== undefined;
  }

  async sessions(listing: { query?: string; archived?: boolean; before?: string; limit?: number } = {}) {
    return this.get<{ sessions: Session[]; next?: string }>(`/v1/sessions${query(listing)}`);
  }

  session(id: string): Promise<Session> {
    return this.get(at`/v1/sessions/${id}`);
  }

  createSession(title = ""): Promise<Session> {
    return this.send("POST", "/v1/sessions", { json: { title } });
  }

  changeSession(id: string, changes: { title?: string; pinned?: boolean; archived?: boolean }) {
    return this.send<Session>("PATCH", at`/v1/sessions/${id}`, { json: changes });
  }

  deleteSession(id: string): Promise<{ undo_until_ms: number }> {
    return this.send("DELETE", at`/v1/sessions/${id}`, { json: {} });
  }

  restoreSession(id: string): Promise<Session> {
    return this.send("POST", at`/v1/sessions/${id}/restore`, { json: {} });
  }

  branch(id: string, head: number, title?: string): Promise<Session> {
    return this.send("POST", at`/v1/sessions/${id}/branch`, { json: title === undefined ? { head } : { head, title } });
  }

  snapshot(id: string, view: View, thinking?: Thinking): Promise<{ id: string; data: { run: string | null; picture: Snapshot } }> {
    return this.get(at`/v1/sessions/${id}/snapshot` + query({ view, format: "patch", thinking }));
  }

  /** All records of a session, a JSON line each; not for guests. */
  async log(id: string): Promise<string> {
    return (await this.request("GET", at`/v1/sessions/${id}/log`)).text();
  }

  /** The same key is the same message, however often it is sent. Attachments are digests of uploaded pictures. */
  sendMessage(id: string, message: { text: string; attachments?: string[]; join?: boolean }, key: string, signal?: AbortSignal) {
    const headers = { "idempotency-key": key };
    return this.send<{ id: string; run: string }>("POST", at`/v1/sessions/${id}/messages`, { json: message }, headers, signal);
  }

  async queue(id: string): Promise<Waiting[]> {
    return (await this.get<{ queue: Waiting[] }>(at`/v1/sessions/${id}/queue`)).queue;
  }

  async arrange(id: string, order: string[], removed: string[] = [], texts: Record<string, string> = {}) {
    const path = at`/v1/sessions/${id}/queue`;
    return (await this.send<{ queue: Waiting[] }>("PUT", path, { json: { order, removed, texts } })).queue;
  }

  run(id: string): Promise<Run> {
    return this.get(at`/v1/runs/${id}`);
  }

  cancel(run: string): Promise<Run> {
    return this.send("POST", at`/v1/runs/${run}/cancel`, { json: {} });
  }

  retry(run: string, key: string): Promise<{ id: string; run: string }> {
    return this.send("POST", at`/v1/runs/${run}/retry`, { json: {} }, { "idempotency-key": key });
  }

  answer(run: string, ask: string, answer: string): Promise<void> {
    return this.send("POST", at`/v1/runs/${run}/asks/${ask}/answer`, { json: { answer } });
  }

  upload(session: string, file: globalThis.Blob, signal?: AbortSignal): Promise<Blob> {
    return this.send("POST", at`/v1/sessions/${session}/blobs`, { file }, {}, signal);
  }

  share(session: string): Promise<{ id: string; token: string }> {
    return this.send("POST", at`/v1/sessions/${session}/shares`, { json: {} });
  }

  shares(session: string): Promise<{ id: string; created_ms: number }[]> {
    return this.get(at`/v1/sessions/${session}/shares`);
  }

  revokeShare(session: string, share: string): Promise<void> {
    return this.send("DELETE", at`/v1/sessions/${session}/shares/${share}`, { json: {} });
  }

  usage(session: string): Promise<Usage> {
    return this.get("/v1/usage" + query({ session }));
  }

  /** A request whose answer is read as it comes. */
  async open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.request("GET", path, undefined, { accept: "text/event-stream", ...headers }, signal);
    if (!response.body) throw new Refused(response.status, "no_body", "The gateway answered nothing.");
    return response.body;
  }

  /** The bytes of a file of a session, by the digest that a page names. */
  file(session: string, digest: string): Promise<globalThis.Blob> {
    return this.fileAt(this.filePath(session, digest));
  }

  /** The same, by the path that a text names. */
  async fileAt(path: string): Promise<globalThis.Blob> {
    return (await this.request("GET", path)).blob();
  }

  filePath(session: string, digest: string): string {
    return at`/v1/sessions/${session}/blobs/${digest}`;
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.request("GET", path)).json()) as T;
  }

  private async send<T>(method: string, path: string, body: Body, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.request(method, path, body, headers, signal);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async request(
    method: string,
    path: string,
    body?: Body,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const all: Record<string, string> = { ...headers };
    if (this.token !== undefined) all["authorization"] = `Bearer ${this.token}`;
    const init: RequestInit = { method, headers: all, cache: "no-store", credentials: this.token === undefined ? "same-origin" : "omit" };
    if (body) {
      all["content-type"] = "json" in body ? "application/json" : body.file.type || "application/octet-stream";
      init.body = "json" in body ? JSON.stringify(body.json) : body.file;
    }
    if (signal) init.signal = signal;
    const response = await this.fetcher(this.base + path, init);
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

async function refusal(response: Response): Promise<Refused> {
  const said = (await response.json().catch(() => undefined)) as { error?: { code?: string; message?: string } } | undefined;
  const { code = "unknown", message = `The gateway answered ${response.status}.` } = said?.error ?? {};
  return new Refused(response.status, code, message);
}

/** A path whose parameters cannot become anything else. */
export function at(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, place) => path + encodeURIComponent(values[place - 1] ?? "") + part);
}

export function query(fields: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
