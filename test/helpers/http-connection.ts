import { Agent, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly body: string
}

const agent = new Agent({ keepAlive: true })

/** Over a connection that is kept, and carries one request at a time. @throws Error if the answer is not received in full */
export function post(url: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method: 'POST', agent, headers })
    outgoing.on('response', incoming => {
      const parts: Buffer[] = []
      incoming.on('data', (part: Buffer) => parts.push(part))
      incoming.on('error', reject)
      incoming.on('end', () => {
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts).toString() })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Of a refusal. */
export function reasonOf({ body }: Pick<Answer, 'body'>): string | undefined {
  return (JSON.parse(body) as { reason?: string }).reason
}
