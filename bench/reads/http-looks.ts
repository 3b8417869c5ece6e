import { Agent, type OutgoingHttpHeaders, request } from 'node:http'

/** Asks over one HTTP connection, which is made by the first question. */
export class HttpLooks {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** @returns from the request to the last byte, milliseconds @throws Error if anything but 200 is answered */
  get(path: string, headers: OutgoingHttpHeaders, onPart: (part: Buffer) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const begin = performance.now()
      const outgoing = request(`${this.#url}${path}`, { agent: this.#agent, headers })
      outgoing.on('error', reject)
      outgoing.on('response', incoming => {
        incoming.on('error', reject)
        incoming.on('data', onPart)
        incoming.on('end', () => {
          const took = performance.now() - begin
          if (incoming.statusCode === 200) resolve(took)
          else reject(new Error(`a question was answered with ${incoming.statusCode}`))
        })
      })
      outgoing.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
