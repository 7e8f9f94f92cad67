// HTTP client for the gateway API (docs/GATEWAY.md).

import type { ImageRef, Snapshot, Thinking, View } from "./protocol.ts";

/** A session in the session list. */
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
  /** The active run, or null. */
  run: string | null;
  /** Number of open asks in the active run. */
  asks?: number;
}

/** A message queued behind the active run. */
export interface QueuedMessage {
  id: string;
  text: string;
  /** Attached images. */
  images?: ImageRef[];
  accepted_ms: number;
}

/** One run, with the seq of its first and last record. */
export interface Run {
  id: string;
  session: string;
  first: number;
  last?: number;
  outcome: string | null;
}

/** Token and cost totals. */
export interface Usage {
  tokens_in: number;
  tokens_out: number;
  cost_micro_usd: number;
}

/** A file stored by the gateway, addressed by its digest. */
export interface UploadedFile {
  digest: string;
  media_type: string;
  bytes: number;
  path: string;
}

/** An HTTP error response, with the status and the error code of its body. */
export class GatewayError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Where the gateway is and how to authenticate. */
export interface GatewayOptions {
  /** Base URL of the gateway (default: the origin of the page). */
  base?: string;
  /** Bearer token for programs and shared links. A signed-in browser uses its cookie instead. */
  token?: string;
  fetch?: typeof fetch;
}

type RequestBody = { json: unknown } | { file: globalThis.Blob };

/** Client for one gateway. Every method throws `GatewayError` on an error response. */
export class GatewayClient {
  readonly base: string;
  private readonly token: string | undefined;
  private readonly fetcher: typeof fetch;

  constructor({ base = "", token, fetch: fetcher }: GatewayOptions = {}) {
    this.base = base.replace(/\/$/, "");
    this.token = token;
    this.fetcher = fetcher ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** True if requests carry a bearer token. URLs that the browser loads by itself (images) do not carry it. */
  get hasToken(): boolean {
    return this.token !== undefined;
  }

  async listSessions(filter: { query?: string; archived?: boolean; before?: string; limit?: number } = {}) {
    return this.getJson<{ sessions: Session[]; next?: string }>(`/v1/sessions${queryString(filter)}`);
  }

  getSession(id: string): Promise<Session> {
    return this.getJson(urlPath`/v1/sessions/${id}`);
  }

  createSession(title = ""): Promise<Session> {
    return this.sendForJson("POST", "/v1/sessions", { json: { title } });
  }

  updateSession(id: string, changes: { title?: string; pinned?: boolean; archived?: boolean }) {
    return this.sendForJson<Session>("PATCH", urlPath`/v1/sessions/${id}`, { json: changes });
  }

  deleteSession(id: string): Promise<{ undo_until_ms: number }> {
    return this.sendForJson("DELETE", urlPath`/v1/sessions/${id}`, { json: {} });
  }

  restoreSession(id: string): Promise<Session> {
    return this.sendForJson("POST", urlPath`/v1/sessions/${id}/restore`, { json: {} });
  }

  branchSession(id: string, head: number, title?: string): Promise<Session> {
    return this.sendForJson("POST", urlPath`/v1/sessions/${id}/branch`, { json: title === undefined ? { head } : { head, title } });
  }

  getSnapshot(id: string, view: View, thinking?: Thinking): Promise<{ id: string; data: { run: string | null; page: Snapshot } }> {
    return this.getJson(urlPath`/v1/sessions/${id}/snapshot` + queryString({ view, format: "patch", thinking, protocol: 2 }));
  }

  /** All records of a session as JSON lines; owner only. */
  async getLog(id: string): Promise<string> {
    return (await this.request("GET", urlPath`/v1/sessions/${id}/log`)).text();
  }

  /** Sends a message. Sending the same idempotency `key` again has no effect. `attachments` are digests of uploaded images. */
  sendMessage(id: string, message: { text: string; attachments?: string[]; join?: boolean }, key: string, signal?: AbortSignal) {
    const headers = { "idempotency-key": key };
    return this.sendForJson<{ id: string; run: string }>("POST", urlPath`/v1/sessions/${id}/messages`, { json: message }, headers, signal);
  }

  async getQueue(id: string): Promise<QueuedMessage[]> {
    return (await this.getJson<{ queue: QueuedMessage[] }>(urlPath`/v1/sessions/${id}/queue`)).queue;
  }

  /** Reorders the queue, removes messages and replaces texts; fails if the queue has changed since. */
  async updateQueue(id: string, order: string[], removed: string[] = [], texts: Record<string, string> = {}) {
    const path = urlPath`/v1/sessions/${id}/queue`;
    return (await this.sendForJson<{ queue: QueuedMessage[] }>("PUT", path, { json: { order, removed, texts } })).queue;
  }

  getRun(id: string): Promise<Run> {
    return this.getJson(urlPath`/v1/runs/${id}`);
  }

  cancelRun(run: string): Promise<Run> {
    return this.sendForJson("POST", urlPath`/v1/runs/${run}/cancel`, { json: {} });
  }

  retryRun(run: string, key: string): Promise<{ id: string; run: string }> {
    return this.sendForJson("POST", urlPath`/v1/runs/${run}/retry`, { json: {} }, { "idempotency-key": key });
  }

  answerAsk(run: string, ask: string, answer: string): Promise<void> {
    return this.sendForJson("POST", urlPath`/v1/runs/${run}/asks/${ask}/answer`, { json: { answer } });
  }

  uploadFile(session: string, file: globalThis.Blob, signal?: AbortSignal): Promise<UploadedFile> {
    return this.sendForJson("POST", urlPath`/v1/sessions/${session}/blobs`, { file }, {}, signal);
  }

  createShare(session: string): Promise<{ id: string; token: string }> {
    return this.sendForJson("POST", urlPath`/v1/sessions/${session}/shares`, { json: {} });
  }

  listShares(session: string): Promise<{ id: string; created_ms: number }[]> {
    return this.getJson(urlPath`/v1/sessions/${session}/shares`);
  }

  revokeShare(session: string, share: string): Promise<void> {
    return this.sendForJson("DELETE", urlPath`/v1/sessions/${session}/shares/${share}`, { json: {} });
  }

  getUsage(session: string): Promise<Usage> {
    return this.getJson("/v1/usage" + queryString({ session }));
  }

  /** Opens a server-sent event stream and returns its body. */
  async openStream(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.request("GET", path, undefined, { accept: "text/event-stream", ...headers }, signal);
    if (!response.body) throw new GatewayError(response.status, "no_body", "The gateway sent an empty response.");
    return response.body;
  }

  /** Downloads a session's file by digest. */
  downloadFile(session: string, digest: string): Promise<globalThis.Blob> {
    return this.downloadPath(this.filePath(session, digest));
  }

  /** Downloads a file by URL path. */
  async downloadPath(path: string): Promise<globalThis.Blob> {
    return (await this.request("GET", path)).blob();
  }

  filePath(session: string, digest: string): string {
    return urlPath`/v1/sessions/${session}/blobs/${digest}`;
  }

  private async getJson<T>(path: string): Promise<T> {
    return (await (await this.request("GET", path)).json()) as T;
  }

  private async sendForJson<T>(method: string, path: string, body: RequestBody, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.request(method, path, body, headers, signal);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async request(
    method: string,
    path: string,
    body?: RequestBody,
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
    if (!response.ok) throw await readGatewayError(response);
    return response;
  }
}

async function readGatewayError(response: Response): Promise<GatewayError> {
  const body = (await response.json().catch(() => undefined)) as { error?: { code?: string; message?: string } } | undefined;
  const { code = "unknown", message = `The gateway returned HTTP ${response.status}.` } = body?.error ?? {};
  return new GatewayError(response.status, code, message);
}

/** Template tag for URL paths: percent-encodes every parameter. */
export function urlPath(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((path, part, index) => path + encodeURIComponent(values[index - 1] ?? "") + part);
}

/** Query string with its leading `?`; empty if all fields are undefined. */
export function queryString(fields: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
