import { createThing, type ServerAddress, type Thing } from '../helpers/http-client.ts'

export interface MintedSession {
  readonly sessionToken: string
  readonly sessionId: string
  readonly expiresAt: string
}

export interface SessionBody {
  readonly access: 'read' | 'write'
  readonly expiresIn?: number
}

/** What the operator does over HTTP (contract §6); every request must succeed. */
export class Operator {
  readonly #server: ServerAddress

  constructor(server: ServerAddress) {
    this.#server = server
  }

  get adminKey(): string {
    return this.#server.adminKey
  }

  createThing(): Promise<Thing> {
    return createThing(this.#server)
  }

  async removeThing({ thingId }: Thing): Promise<void> {
    await this.#ask('DELETE', `/v2/admin/things/${thingId}`)
  }

  async addToken({ thingId }: Thing): Promise<{ thingToken: string; tokenId: string }> {
    return (await this.#ask('POST', `/v2/admin/things/${thingId}/tokens`, {})) as {
      thingToken: string
      tokenId: string
    }
  }

  async firstTokenId({ thingId }: Thing): Promise<string> {
    const { tokens } = (await this.#ask('GET', `/v2/admin/things/${thingId}/tokens`)) as {
      tokens: readonly { tokenId: string }[]
    }
    return tokens[0]?.tokenId ?? ''
  }

  async removeToken({ thingId }: Thing, tokenId: string): Promise<void> {
    await this.#ask('DELETE', `/v2/admin/things/${thingId}/tokens/${tokenId}`)
  }

  async createSession(body: SessionBody & { things: '*' | readonly string[] }): Promise<MintedSession> {
    return (await this.#ask('POST', '/v2/admin/sessions', body)) as MintedSession
  }

  async removeSession(sessionId: string): Promise<void> {
    await this.#ask('DELETE', `/v2/admin/sessions/${sessionId}`)
  }

  /** As the thing itself. */
  async mint({ thingToken }: Thing, body: SessionBody): Promise<MintedSession> {
    return (await this.#ask('POST', `/v2/things/${thingToken}/sessions`, body)) as MintedSession
  }

  async createActivationCodes(count: number): Promise<readonly string[]> {
    const { activationCodes } = (await this.#ask('POST', '/v2/admin/activation-codes', { count })) as {
      activationCodes: readonly string[]
    }
    return activationCodes
  }

  async removeActivationCode(code: string): Promise<void> {
    await this.#ask('DELETE', `/v2/admin/activation-codes/${code}`)
  }

  async activate(activationCode: string): Promise<Thing> {
    return (await this.#ask('POST', '/v2/things', { activationCode })) as Thing
  }

  /** Has a thing use its token. */
  async use({ thingToken }: Thing): Promise<void> {
    await this.#ask('POST', `/v2/things/${thingToken}`, { values: [{ key: 'used', value: true }] })
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.#server.url + path, {
      method,
      headers: { authorization: `Bearer ${this.adminKey}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // Not the path: it may hold a secret.
    if (!response.ok) throw new Error(`the operator's ${method} was refused: ${response.status} ${text}`)
    return JSON.parse(text)
  }
}
