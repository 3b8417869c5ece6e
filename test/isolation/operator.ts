import type { TopicGrant } from '../../src/core/topics/topic-grant.ts'
import { ask, createThing, type ServerAddress, type Session, type Thing } from '../helpers/http-client.ts'

export interface SessionBody {
  readonly access: 'read' | 'write'
  readonly expiresIn?: number
  readonly topics?: readonly TopicGrant[]
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

  async setTopics({ thingId }: Thing, topics: readonly TopicGrant[]): Promise<void> {
    await ask(this.#server, 'PATCH', `/v2/admin/things/${thingId}`, { topics })
  }

  async removeThing({ thingId }: Thing): Promise<void> {
    await ask(this.#server, 'DELETE', `/v2/admin/things/${thingId}`)
  }

  async addToken({ thingId }: Thing): Promise<{ thingToken: string; tokenId: string }> {
    return await ask<{
      thingToken: string
      tokenId: string
    }>(this.#server, 'POST', `/v2/admin/things/${thingId}/tokens`, {})
  }

  async firstTokenId({ thingId }: Thing): Promise<string> {
    const { tokens } = await ask<{
      tokens: readonly { tokenId: string }[]
    }>(this.#server, 'GET', `/v2/admin/things/${thingId}/tokens`)
    return tokens[0]?.tokenId ?? ''
  }

  async removeToken({ thingId }: Thing, tokenId: string): Promise<void> {
    await ask(this.#server, 'DELETE', `/v2/admin/things/${thingId}/tokens/${tokenId}`)
  }

  async createSession(body: SessionBody & { things: '*' | readonly string[] }): Promise<Session> {
    return await ask<Session>(this.#server, 'POST', '/v2/admin/sessions', body)
  }

  async removeSession(sessionId: string): Promise<void> {
    await ask(this.#server, 'DELETE', `/v2/admin/sessions/${sessionId}`)
  }

  /** As the thing itself. */
  async mint({ thingToken }: Thing, body: SessionBody): Promise<Session> {
    return await ask<Session>(this.#server, 'POST', `/v2/things/${thingToken}/sessions`, body)
  }

  async createActivationCodes(count: number): Promise<readonly string[]> {
    const { activationCodes } = await ask<{
      activationCodes: readonly string[]
    }>(this.#server, 'POST', '/v2/admin/activation-codes', { count })
    return activationCodes
  }

  async removeActivationCode(code: string): Promise<void> {
    await ask(this.#server, 'DELETE', `/v2/admin/activation-codes/${code}`)
  }

  async activate(activationCode: string): Promise<Thing> {
    return await ask<Thing>(this.#server, 'POST', '/v2/things', { activationCode })
  }

  /** Has a thing use its token. */
  async use({ thingToken }: Thing): Promise<void> {
    await ask(this.#server, 'POST', `/v2/things/${thingToken}`, { values: [{ key: 'used', value: true }] })
  }
}
