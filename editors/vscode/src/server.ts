/** A folder's server: found or started by the program `redraft`, and asked over HTTP as its owner's browser does. */

import { type ChildProcess, spawn } from "node:child_process";
import * as http from "node:http";

const START_MS = 60_000;
const ASK_MS = 30_000;
const AGAIN_MS = 500;

/** A request that the server refused, in its words; or that did not reach it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

interface Address {
  host: string;
  port: number;
  cookie: string;
}

export class FolderServer {
  #address: Address;
  /** What was started here. It has ended long ago where it only found a server. */
  #process: ChildProcess;
  readonly #streams = new Set<{ close(): void }>();

  private constructor(
    readonly folder: string,
    readonly program: string,
    started: { address: Address; process: ChildProcess },
  ) {
    this.#address = started.address;
    this.#process = started.process;
  }

  /** Join the server that the folder has, or start one. */
  static async join(folder: string, program: string): Promise<FolderServer> {
    return new FolderServer(folder, program, await start(folder, program));
  }

  #joining: Promise<void> | null = null;

  /** The server is gone, or knows us no longer: join the one that is there now. */
  rejoin(): Promise<void> {
    this.#joining ??= start(this.folder, this.program)
      .then(({ address, process }) => {
        this.#address = address;
        this.#process = process;
      })
      .finally(() => {
        this.#joining = null;
      });
    return this.#joining;
  }

  get headers(): Record<string, string> {
    return { Cookie: this.#address.cookie, Origin: `http://${this.#authority}` };
  }

  get #authority(): string {
    const { host, port } = this.#address;
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /** The address of a document's room. */
  roomUrl(path: string, epoch: string): string {
    const room = path.split("/").map(encodeURIComponent).join("/");
    return `ws://${this.#authority}/api/live/${room}?epoch=${encodeURIComponent(epoch)}`;
  }

  get<Result>(path: string, query: Record<string, string | number | undefined> = {}): Promise<Result> {
    return this.#ask("GET", path + toQuery(query), undefined);
  }

  post<Result>(path: string, body: unknown = {}): Promise<Result> {
    return this.#ask("POST", path, body);
  }

  put<Result>(path: string, body: unknown): Promise<Result> {
    return this.#ask("PUT", path, body);
  }

  async #ask<Result>(method: string, path: string, body: unknown, again = true): Promise<Result> {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...this.headers, ...(data !== undefined && { "Content-Type": "application/json" }) };
    const found = await request(this.#address, method, path, headers, data).catch((error: Error) => error);
    const isAway = found instanceof Error || found.status === 401;
    // A read can be repeated; a write may have been done although its answer was lost.
    if (again && isAway && (method === "GET" || (!(found instanceof Error) && found.status === 401))) {
      await this.rejoin();
      return this.#ask(method, path, body, false);
    }
    if (found instanceof Error) throw new Refusal(0, "unreachable", `The server cannot be reached: ${found.message}`);
    if (found.status >= 400) throw toRefusal(found);
    return (found.body === "" ? null : JSON.parse(found.body)) as Result;
  }

  /** Listen to a stream of events; it goes on after a lost connection, until it is closed. */
  listen(path: string, heard: (event: unknown) => void, back: () => void = () => {}): { close(): void } {
    let ended = false;
    let last = "";
    let current: http.ClientRequest | null = null;
    const again = () => {
      if (ended) return;
      setTimeout(() => {
        if (!ended) void this.rejoin().then(open, again);
      }, AGAIN_MS);
    };
    const open = () => {
      if (ended) return;
      const resumes = last === "" ? {} : { "Last-Event-ID": last };
      current = http.get(
        { ...this.#place(path), headers: { ...this.headers, ...resumes, Accept: "text/event-stream" } },
        (response) => {
          if (response.statusCode !== 200) {
            response.resume();
            again();
            return;
          }
          back();
          let rest = "";
          response.setEncoding("utf8");
          response.on("data", (piece: string) => {
            const blocks = (rest + piece).split("\n\n");
            rest = blocks.pop() ?? "";
            for (const block of blocks) {
              const { id, data } = parseEvent(block);
              if (id !== "") last = id;
              if (data !== "") heard(JSON.parse(data));
            }
          });
          response.on("close", again);
        },
      );
      current.on("error", again);
    };
    open();
    const stream = {
      close: () => {
        ended = true;
        current?.destroy();
        this.#streams.delete(stream);
      },
    };
    this.#streams.add(stream);
    return stream;
  }

  #place(path: string) {
    return { host: this.#address.host, port: this.#address.port, path };
  }

  /** Leave; a server that was started here ends. */
  close(): void {
    for (const stream of this.#streams) stream.close();
    this.#process.kill("SIGINT");
  }
}

function toQuery(query: Record<string, string | number | undefined>): string {
  const known = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  return known.length > 0 ? `?${new URLSearchParams(known)}` : "";
}

function toRefusal({ status, body }: Reply): Refusal {
  try {
    const { error, message, details } = JSON.parse(body) as Record<string, unknown>;
    return new Refusal(status, String(error), String(message), (details ?? {}) as Record<string, unknown>);
  } catch {
    return new Refusal(status, "io_error", `The server answered with ${status}.`);
  }
}

function parseEvent(block: string): { id: string; data: string } {
  const found = { id: "", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) found.id = line.slice(3).trim();
    else if (line.startsWith("data:")) found.data += line.slice(5).trim();
  }
  return found;
}

interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

function request(
  { host, port }: { host: string; port: number },
  method: string,
  path: string,
  headers: Record<string, string>,
  data?: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = http.request({ host, port, method, path, headers, timeout: ASK_MS }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        body += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on("error", reject);
    });
    asked.on("timeout", () => asked.destroy(new Error("it did not answer in time")));
    asked.on("error", reject);
    asked.end(data);
  });
}

/** `redraft serve` says where the folder's server is, and stays only if it has become that server. */
async function start(folder: string, program: string): Promise<{ address: Address; process: ChildProcess }> {
  const child = spawn(program, ["serve", "--json", "--", folder], { stdio: ["ignore", "pipe", "pipe"] });
  const told = await readAddress(child, program);
  const { port, pathname, search } = new URL(told.enter);
  const { hostname } = new URL(told.url);
  // Behind a proxy the server has a public address, and listens here all the same.
  const host = Number(port) === told.port ? hostname.replace(/^\[|\]$/g, "") : "127.0.0.1";
  const entered = await request({ host, port: told.port }, "GET", pathname + search, {});
  const cookie = (entered.headers["set-cookie"] ?? []).map((each) => each.split(";")[0]).join("; ");
  if (cookie === "") throw new Error("The server did not let this editor in.");
  return { address: { host, port: told.port, cookie }, process: child };
}

function readAddress(child: ChildProcess, program: string): Promise<{ url: string; enter: string; port: number }> {
  return new Promise((resolve, reject) => {
    let said = "";
    let complaint = "";
    const fail = (why: string) => {
      clearTimeout(waiting);
      child.kill("SIGINT");
      reject(new Error(why));
    };
    const waiting = setTimeout(() => fail(`${program} did not start a server in time.`), START_MS);
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
      if (!said.endsWith("}\n")) return;
      clearTimeout(waiting);
      try {
        resolve(JSON.parse(said));
      } catch {
        fail(`${program} did not say where its server is.`);
      }
    });
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
      complaint = (complaint + piece).slice(-2000);
    });
    child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
    child.on("exit", (code) => {
      if (code !== 0) fail(complaint.trim() || `${program} ended with ${code}.`);
    });
  });
}
