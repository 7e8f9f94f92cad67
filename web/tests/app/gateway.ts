// A real gateway for a test, with a line to it that can be cut.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { request, type Server as HttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BINARY = process.env["MILLPOND"] ?? join(import.meta.dirname, "../../../target/debug/millpond");

export class TestGateway {
  readonly home = mkdtempSync(join(tmpdir(), "millpond-web-"));
  /** Where agents work. */
  private readonly folder = mkdtempSync(join(tmpdir(), "millpond-work-"));
  private process: ChildProcess | undefined;
  private readonly sockets = new Set<Socket>();
  private reachable = true;
  private inFront: HttpServer | undefined;

  private constructor(
    readonly port: number,
    private readonly line: Server,
    /** Where browsers go. */
    readonly linePort: number,
    private readonly more: readonly string[],
  ) {}

  static async start(more: string[] = []): Promise<TestGateway> {
    const port = await freePort();
    const line = createServer();
    await new Promise<void>((ready) => line.listen(0, "127.0.0.1", ready));
    const gateway = new TestGateway(port, line, (line.address() as AddressInfo).port, more);
    line.on("connection", (socket) => gateway.carry(socket));
    await gateway.run();
    return gateway;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.linePort}`;
  }

  get token(): string {
    return readFileSync(join(this.home, "token"), "utf8").trim();
  }

  /** Starts the program, and waits until it listens. */
  async run(): Promise<void> {
    const words = ["serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.home, "--host", `127.0.0.1:${this.linePort}`, ...this.more];
    const child = spawn(BINARY, words, { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
    this.process = child;
    await new Promise<void>((ready, failed) => {
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes("listening on")) ready();
      });
      child.on("error", failed).on("exit", (code) => failed(new Error(`the gateway ended with ${code}: ${said}`)));
    });
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.removeAllListeners("exit");
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await Promise.race([gone, ended]);
  }

  /** From now on nothing goes through the line, and what was open is broken. */
  cut(): void {
    this.reachable = false;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.reachable = true;
  }

  /** From now on browsers are answered by this, as by another program after a restart; nothing is the gateway itself. */
  answerBy(server: HttpServer | undefined): void {
    this.cut();
    this.inFront = server;
    this.mend();
  }

  async stop(): Promise<void> {
    this.cut();
    this.line.close();
    await this.kill();
    for (const folder of [this.home, this.folder]) rmSync(folder, { recursive: true, force: true });
  }

  private carry(socket: Socket): void {
    if (!this.reachable) return void socket.destroy();
    if (this.inFront) return void (this.keep(socket), this.inFront.emit("connection", socket));
    const up = connect(this.port, "127.0.0.1");
    for (const end of [socket, up]) this.keep(end);
    socket.pipe(up).on("close", () => socket.destroy());
    up.pipe(socket).on("close", () => up.destroy());
  }

  private keep(end: Socket): void {
    this.sockets.add(end);
    end.on("error", () => end.destroy()).on("close", () => this.sockets.delete(end));
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json().catch(() => undefined)) as T;
  }

  async newSession(title = ""): Promise<string> {
    return (await this.call<{ id: string }>("POST", "/v1/sessions", { title })).id;
  }

  /** A path that lets a browser in. */
  async loginPath(): Promise<string> {
    return (await this.call<{ path: string }>("POST", "/v1/login-link", {})).path;
  }

  /** A run whose stream a test writes piece by piece. */
  ingest(session: string, dialect = "anthropic"): Ingest {
    return new Ingest(this.port, this.token, `/v1/ingest/${dialect}?session=${session}`);
  }
}

export class Ingest {
  private readonly call;
  readonly done: Promise<number>;

  constructor(port: number, token: string, path: string) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "text/event-stream", "transfer-encoding": "chunked" };
    this.call = request({ host: "127.0.0.1", port, path, method: "POST", headers });
    this.done = new Promise((done) => {
      this.call.on("response", (answer) => answer.resume().on("end", () => done(answer.statusCode ?? 0)));
      this.call.on("error", () => done(0));
    });
  }

  /** Written once it is on its way. */
  write(text: string): Promise<void> {
    return new Promise((written) => this.call.write(text, () => written()));
  }

  async end(): Promise<number> {
    this.call.end();
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
