import type { ServerAddress } from '../../test/helpers/http-client.ts'

export interface Session {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

/** Asks with the admin key, or with the token in the path. @throws Error unless it is answered with 200 or 201 */
export async function ask<Answer>(
  { url, adminKey }: ServerAddress,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Answer & { reason?: string }
  if (!response.ok) throw new Error(`${method} was answered with ${response.status} ${answer.reason}`)
  return answer
}
