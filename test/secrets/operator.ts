import type { ServerAddress, Thing } from '../helpers/http-client.ts'
import type { Evidence } from './evidence.ts'

/** Makes what there is to be secret; takes down every answer that shows none by design. */
export class Operator {
  readonly #server: ServerAddress
  readonly #evidence: Evidence

  constructor(server: ServerAddress, evidence: Evidence) {
    this.#server = server
    this.#evidence = evidence
  }

  /** An answer with secrets in it, which are taken down as such: it is for the caller alone. */
  async mint<Answer extends object>(
    name: string,
    path: string,
    body: object = {},
    authorization = this.#server.adminKey,
  ): Promise<Answer> {
    const response = await this.#ask('POST', path, body, authorization)
    const answer = (await response.json()) as Record<string, unknown>
    if (response.status !== 201) throw new Error(`${name}: ${response.status} ${answer.reason}`)
    for (const [member, value] of Object.entries(answer)) {
      if (member.endsWith('Token')) this.#evidence.addSecret(name, String(value))
    }
    return answer as Answer
  }

  /** @returns codes, which are kept in clear (docs/inside/decisions/access.md, decision 28) */
  async mintCodes(count: number, uses: number): Promise<readonly string[]> {
    const response = await this.#ask('POST', '/v2/admin/activation-codes', { count, uses })
    const { activationCodes } = (await response.json()) as { activationCodes: string[] }
    return activationCodes.map((code, index) =>
      this.#evidence.addSecret(`activation code ${index}`, code, { isKeptInClear: true }),
    )
  }

  /** An answer that anyone may see who may ask. @throws Error unless it is 200 */
  async ask<Answer extends object>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await this.#ask(method, path, body)
    const bytes = Buffer.from(await response.arrayBuffer())
    const shown = `${JSON.stringify([...response.headers])}${bytes}`
    this.#evidence.add('told', `the answer to ${method} ${path}`, shown)
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status}`)
    return JSON.parse(bytes.toString()) as Answer
  }

  /** Gives things and sessions topics that there are not, and takes down what is said about it. */
  async giveWrongTopics(secret: string, { thingId }: Thing): Promise<void> {
    for (const filter of [`garden/${secret}`, `house/${secret}#`, `house/${secret.repeat(30)}`]) {
      const topics = [{ filter, access: 'read' }]
      const wrongAccess = [{ filter: 'house/#', access: secret }]
      const sent = [
        ['POST', '/v2/admin/things', { name: 'x', topics }],
        ['PATCH', `/v2/admin/things/${thingId}`, { topics }],
        ['POST', '/v2/admin/sessions', { things: [], access: 'read', topics }],
        ['POST', '/v2/admin/sessions', { things: [], access: 'read', topics: wrongAccess }],
        ['POST', '/v2/admin/sources', { name: 'x', topics: [`${filter}#`] }],
        ['POST', '/v2/admin/sources', { name: 'x', formats: ['levels'], pattern: `${filter}{device}` }],
      ] as const
      for (const [method, path, body] of sent) {
        const response = await this.#ask(method, path, body)
        if (response.status !== 400)
          throw new Error(`${method} ${path}: ${response.status} for ${filter.length} characters`)
        this.#evidence.add('told', `the answer to wrong topics in ${method} ${path}`, await response.text())
      }
    }
  }

  /** Takes down everything that the operator can list. */
  async lookAtAll(...things: readonly Thing[]): Promise<void> {
    await this.ask('GET', '/v2/admin/things?limit=1000')
    await this.ask('GET', '/v2/admin/sessions?limit=1000')
    const { sources } = await this.ask<{ sources: { sourceId: string }[] }>('GET', '/v2/admin/sources')
    for (const { sourceId } of sources) {
      await this.ask('GET', `/v2/admin/sources/${sourceId}`)
      await this.ask('GET', `/v2/admin/sources/${sourceId}/errors`)
    }
    for (const { thingId } of things) {
      await this.ask('GET', `/v2/admin/things/${thingId}/tokens`)
      await this.ask('GET', `/v2/things/${thingId}/errors?limit=100`)
      await this.ask('GET', `/v2/things/${thingId}/resources`)
      await this.ask('GET', `/v2/things/${thingId}/all_resources?limit=1000`)
    }
    for (const path of ['/metrics', '/healthz', '/readyz', '/v2/', '/docs']) {
      const response = await this.#ask('GET', path)
      this.#evidence.add('told', `the answer to GET ${path}`, await response.text())
    }
  }

  async backUp(): Promise<void> {
    const response = await this.#ask('POST', '/v2/admin/backup')
    if (response.status !== 200) throw new Error(`no backup: ${response.status}`)
    this.#evidence.add('files', 'a backup', Buffer.from(await response.arrayBuffer()))
  }

  #ask(method: string, path: string, body?: object, authorization = this.#server.adminKey) {
    return fetch(`${this.#server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${authorization}` },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    })
  }
}
