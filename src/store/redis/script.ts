import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

export type Client = Redis | Cluster
export type Argument = string | Buffer | number

/** What runs commands: a `Client` is one. */
export interface Caller {
  /** @returns the reply, its bulk strings as bytes */
  callBuffer(command: string, ...args: readonly Argument[]): Promise<unknown>
}

/** What a script gives back: integers, bulk strings as bytes, null, and lists of these. */
export type Reply = number | Buffer | null | readonly Reply[]

/** Names and values, which a reply gives in turn. */
export function pairsIn(reply: Reply): [name: string, value: Buffer][] {
  const list = reply as readonly Buffer[]
  return Array.from({ length: list.length / 2 }, (_, at) => [
    String(list[2 * at]),
    list[2 * at + 1] as Buffer,
  ])
}

/**
 * A Lua script in `scripts/`; the head of the file says what its arguments are, and what it returns. A script is
 * atomic: no other command runs meanwhile, and all that it changes is in one entry of the append-only file. The `#!lua` of its
 * first line makes Redis refuse it as a whole when memory is full; without, it would fail at its first write that needs some.
 */
export class Script {
  readonly #text: string
  readonly #sha: string

  /** @param name of the file, without `.lua` @param libraries files of which it uses something, besides lib.lua */
  constructor(name: string, ...libraries: readonly string[]) {
    const used = ['lib', ...libraries].map(readScript).join('\n')
    // The first line says how Redis is to run it.
    this.#text = readScript(name).replace('\n', () => `\n${used}\n`)
    this.#sha = hash('sha1', this.#text)
  }

  /**
   * @param head of the store: decides which node of a cluster runs it
   * @throws ReplyError of Redis, or Error of the connection
   */
  async run(client: Caller, head: string, args: readonly Argument[]): Promise<Reply> {
    try {
      return (await client.callBuffer('EVALSHA', this.#sha, 1, head, ...args)) as Reply
    } catch (error) {
      // The script was never run there, or the server was started again.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (await client.callBuffer('EVAL', this.#text, 1, head, ...args)) as Reply
    }
  }
}

function readScript(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')
}
