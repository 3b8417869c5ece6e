import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const kept = new Agent({ keepAlive: true })

/** Over a connection that is kept, and carries one request at a time. @throws Error if the answer is not received in full */
export async function post(url: string, body: string, agent = kept): Promise<Answer> {
  const length = { 'content-length': Buffer.byteLength(body) }
  const outgoing = request(url, { method: 'POST', agent, headers: length })
  // Behind the head of an answer, too.
  outgoing.on('error', () => {}).end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers } = incoming
  return { status, headers, body: await text(incoming) }
}

/** Of a refusal. */
export function reasonOf({ body }: Pick<Answer, 'body'>): string | undefined {
  return (JSON.parse(body) as { reason?: string }).reason
}
