import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Connections that are kept, each with at most one request on it. */
export class HttpConnection {
  readonly #agent: Agent
  readonly #url: string

  /**
   * @param url of the server
   * @param most connections at once; a request that finds none free waits for one
   */
  constructor(url: string, most = 1) {
    this.#url = url
    this.#agent = new Agent({ keepAlive: true, maxSockets: most })
  }

  /** @throws Error if the answer is not received in full */
  post(path: string, body: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-length': Buffer.byteLength(body) }
      const outgoing = request(`${this.#url}${path}`, { method: 'POST', agent: this.#agent, headers })
      outgoing.on('response', incoming => {
        const parts: Buffer[] = []
        incoming.on('data', (part: Buffer) => parts.push(part))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const { statusCode: status = 0, headers } = incoming
          resolve({ status, headers, body: Buffer.concat(parts).toString() })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Of a refusal. */
export function reasonOf({ body }: Pick<Answer, 'body'>): string | undefined {
  return (JSON.parse(body) as { reason?: string }).reason
}
