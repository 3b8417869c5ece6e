import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

export type Client = Redis | Cluster
export type Argument = string | Buffer | number

/** Runs commands, as a `Client` does. */
export interface Caller {
  /** @returns the reply, with bulk strings as bytes */
  callBuffer(command: string, ...args: readonly Argument[]): Promise<unknown>
}

/** The reply of a script: integers, bulk strings as bytes, null, and lists of these. */
export type Reply = number | Buffer | null | readonly Reply[]

/** Decodes a reply in which names and values alternate. */
export function pairsIn(reply: Reply): [name: string, value: Buffer][] {
  const list = reply as readonly Buffer[]
  return Array.from({ length: list.length / 2 }, (_, at) => [
    String(list[2 * at]),
    list[2 * at + 1] as Buffer,
  ])
}

/**
 * A Lua script in `scripts/`. A comment at the top of each file describes the arguments and the result. A script is atomic: no
 * other command runs meanwhile, and all its changes are in one entry of the append-only file. Because of `#!lua` in the first line,
 * Redis refuses the whole script when memory is full; without that line, the script would fail partway, after some changes.
 */
export class Script {
  readonly #text: string
  readonly #sha: string

  /** @param name name of the file, without `.lua` @param libraries names of further files to insert after lib.lua */
  constructor(name: string, ...libraries: readonly string[]) {
    const used = ['lib', ...libraries].map(readScript).join('\n')
    // Inserted after the first line, since that line has the flags for Redis.
    this.#text = readScript(name).replace('\n', () => `\n${used}\n`)
    this.#sha = hash('sha1', this.#text)
  }

  /** @param head key that decides which cluster node runs the script @throws ReplyError of Redis, or Error of the connection */
  async run(client: Caller, head: string, args: readonly Argument[]): Promise<Reply> {
    try {
      return (await client.callBuffer('EVALSHA', this.#sha, 1, head, ...args)) as Reply
    } catch (error) {
      // Redis does not have the script: this server has never run it, or was restarted.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (await client.callBuffer('EVAL', this.#text, 1, head, ...args)) as Reply
    }
  }
}

function readScript(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')
}
