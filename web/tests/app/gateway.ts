// A real gateway process, behind a TCP proxy that can be cut.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { request, type Server as HttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BINARY = process.env["MILLPOND"] ?? join(import.meta.dirname, "../../../target/debug/millpond");

/** A gateway for tests. */
export class TestGateway {
  readonly home = mkdtempSync(join(tmpdir(), "millpond-web-"));
  /** Working directory of the agents. */
  private readonly workFolder = mkdtempSync(join(tmpdir(), "millpond-work-"));
  private process: ChildProcess | undefined;
  private readonly sockets = new Set<Socket>();
  private isReachable = true;
  private replacement: HttpServer | undefined;

  private constructor(
    readonly port: number,
    private readonly proxy: Server,
    /** Port for browsers. */
    readonly proxyPort: number,
    private readonly extraArgs: readonly string[],
  ) {}

  static async start(extraArgs: string[] = []): Promise<TestGateway> {
    const port = await freePort();
    const proxy = createServer();
    await new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready));
    const gateway = new TestGateway(port, proxy, (proxy.address() as AddressInfo).port, extraArgs);
    proxy.on("connection", (socket) => gateway.forward(socket));
    await gateway.startProcess();
    return gateway;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.proxyPort}`;
  }

  get token(): string {
    return readFileSync(join(this.home, "token"), "utf8").trim();
  }

  /** Starts the process and waits until it listens. */
  async startProcess(): Promise<void> {
    const args = ["serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.home, "--host", `127.0.0.1:${this.proxyPort}`, ...this.extraArgs];
    const child = spawn(BINARY, args, { cwd: this.workFolder, stdio: ["ignore", "ignore", "pipe"] });
    this.process = child;
    await new Promise<void>((ready, failed) => {
      let output = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (output.includes("listening on")) ready();
      });
      child.on("error", failed).on("exit", (code) => failed(new Error(`the gateway exited with ${code}: ${output}`)));
    });
  }

  /** Kills the process, like a crash. */
  async kill(): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.removeAllListeners("exit");
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await Promise.race([gone, ended]);
  }

  /** Breaks all connections and refuses new ones. */
  cutNetwork(): void {
    this.isReachable = false;
    for (const socket of this.sockets) socket.destroy();
  }

  restoreNetwork(): void {
    this.isReachable = true;
  }

  /** Breaks all connections and serves new ones from `server`; undefined restores the gateway. */
  serveFrom(server: HttpServer | undefined): void {
    this.cutNetwork();
    this.replacement = server;
    this.restoreNetwork();
  }

  async stop(): Promise<void> {
    this.cutNetwork();
    this.proxy.close();
    await this.kill();
    for (const folder of [this.home, this.workFolder]) rmSync(folder, { recursive: true, force: true });
  }

  private forward(socket: Socket): void {
    if (!this.isReachable) return void socket.destroy();
    if (this.replacement) return void (this.track(socket), this.replacement.emit("connection", socket));
    const up = connect(this.port, "127.0.0.1");
    for (const end of [socket, up]) this.track(end);
    socket.pipe(up).on("close", () => socket.destroy());
    up.pipe(socket).on("close", () => up.destroy());
  }

  private track(end: Socket): void {
    this.sockets.add(end);
    end.on("error", () => end.destroy()).on("close", () => this.sockets.delete(end));
  }

  async callApi<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json().catch(() => undefined)) as T;
  }

  async newSession(title = ""): Promise<string> {
    return (await this.callApi<{ id: string }>("POST", "/v1/sessions", { title })).id;
  }

  /** A one-time login path for a browser. */
  async loginPath(): Promise<string> {
    return (await this.callApi<{ path: string }>("POST", "/v1/login-link", {})).path;
  }

  /** Starts a run whose provider stream the test writes. */
  ingest(session: string, dialect = "anthropic"): Ingest {
    return new Ingest(this.port, this.token, `/v1/ingest/${dialect}?session=${session}`);
  }
}

/** An open ingest request. */
export class Ingest {
  private readonly request;
  readonly done: Promise<number>;

  constructor(port: number, token: string, path: string) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "text/event-stream", "transfer-encoding": "chunked" };
    this.request = request({ host: "127.0.0.1", port, path, method: "POST", headers });
    this.done = new Promise((done) => {
      this.request.on("response", (answer) => answer.resume().on("end", () => done(answer.statusCode ?? 0)));
      this.request.on("error", () => done(0));
    });
  }

  /** Resolves when the text was handed to the socket. */
  write(text: string): Promise<void> {
    return new Promise((written) => this.request.write(text, () => written()));
  }

  async end(): Promise<number> {
    this.request.end();
    return this.done;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
