import type { ServerAddress } from '../helpers/http-client.ts'

/** A request under `/v2/admin/`. @throws Error with the answer where that is none of success */
export async function administer(
  { url, adminKey }: ServerAddress,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}/v2/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}` },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
