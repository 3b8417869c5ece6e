import { allPages } from '../../core/async/all-pages.ts'
import type { Document, DocumentStore, PutPurpose } from '../../core/ports.ts'
import { createThingId } from '../../core/token.ts'
import type { TopicGrant } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { ThingRegistry, ThingSummary } from '../access.ts'
import {
  type RemovedThingDocument,
  removedThingName,
  seenName,
  sourceDeviceName,
  sourceDevicePrefix,
  type ThingDocument,
  type TokenDocument,
  thingName,
  tokenName,
} from '../documents.ts'
import type { AssertGrants } from '../grants.ts'
import { type Ended, endedWith } from '../revocation/ended.ts'
import { endOf } from '../sessions/end-sessions.ts'
import { issueToken } from '../tokens.ts'

const maximumTokens = 10
const maximumNameLength = 200

interface RegistryParts {
  readonly documents: DocumentStore
  readonly list: ThingRegistry['list']
  readonly assertGrants: AssertGrants
  /** Called when a thing, or a token together with the sessions that it minted, has been durably removed. */
  readonly onEnd: (ended: Ended) => void
  /** Called when the topics of a thing have durably changed. */
  readonly onTopics: (thingId: string) => void
}

export function createRegistry({
  documents,
  list,
  assertGrants,
  onEnd,
  onTopics,
}: RegistryParts): ThingRegistry {
  return {
    list,

    async create({ name = '', topics = [] }) {
      assertName(name)
      assertGrants(topics)
      const { thingId, token, put } = newThing(name, { topics })
      await documents.transact([thingName(thingId)], () => ({ put, result: undefined, purpose: 'register' }))
      return { thingId, thingToken: token.thingToken }
    },

    async named(name) {
      const found: ThingSummary[] = []
      const read = (cursor: object) => list({ name, limit: 1_000, ...cursor })
      for await (const thing of allPages(read, ({ things }) => things))
        if (thing.name === name) found.push(thing)
      return found
    },

    async missing(thingIds) {
      const found = await Promise.all(thingIds.map(thingId => documents.get(thingName(thingId))))
      return thingIds.filter((_, index) => !found[index])
    },

    async rename(thingId, name) {
      assertName(name)
      await change('register', thingId, thing => ({
        put: { [thingName(thingId)]: { ...thing, name } },
        result: undefined,
      }))
    },

    async setTopics(thingId, topics) {
      assertGrants(topics)
      // Must succeed even on a full disk, since it may revoke rights.
      await change('essential', thingId, ({ topics: _, ...thing }) => ({
        put: { [thingName(thingId)]: { ...thing, ...given(topics) } },
        result: undefined,
      }))
      onTopics(thingId)
    },

    async remove(thingId) {
      const removal: RemovedThingDocument = { startedAt: Date.now() }
      const ended = await change('essential', thingId, thing => {
        const tokens = thing.tokens.map(token => token.hash)
        const { sessions = [] } = thing
        const put: Record<string, Document | null> = {
          ...endOf(sessions),
          [thingName(thingId)]: null,
          [seenName(thingId)]: null,
          [removedThingName(thingId)]: removal,
        }
        for (const hash of tokens) put[tokenName(hash)] = null
        const devices = thing.source ? [sourceDeviceName(thing.source.sourceId, thing.source.device)] : []
        for (const device of devices) put[device] = null
        const ended = {
          things: [thingId],
          devices: devices.map(name => name.slice(sourceDevicePrefix.length)),
        }
        return { put, result: { ...endedWith(sessions, tokens), ...ended } }
      })
      onEnd(ended)
    },

    async addToken(thingId) {
      const token = issueToken(thingId)
      const added = await change('register', thingId, thing => {
        if (thing.tokens.length >= maximumTokens) return { put: {}, result: false }
        const tokens = [...thing.tokens, token.entry]
        return { put: { ...token.put, [thingName(thingId)]: { ...thing, tokens } }, result: true }
      })
      if (!added) throw new ThingwireError('too_many_tokens')
      return { thingToken: token.thingToken, tokenId: token.entry.tokenId }
    },

    async tokens(thingId) {
      const thing = (await documents.get(thingName(thingId))) as ThingDocument | undefined
      if (!thing) throw new ThingwireError('unknown_thing')
      const tokens = await Promise.all(thing.tokens.map(({ hash }) => documents.get(tokenName(hash))))
      return tokens.flatMap(token => {
        if (!token) return []
        const { tokenId, createdAt, used } = token as TokenDocument
        return [{ tokenId, createdAt, used }]
      })
    },

    async removeToken(thingId, tokenId) {
      const ended = await change('essential', thingId, thing => {
        const entry = thing.tokens.find(token => token.tokenId === tokenId)
        if (!entry) return { put: {}, result: undefined }
        const tokens = thing.tokens.filter(token => token !== entry)
        const minted = (thing.sessions ?? []).filter(({ mintedBy }) => mintedBy === entry.hash)
        const sessions = (thing.sessions ?? []).filter(session => !minted.includes(session))
        const put = {
          ...endOf(minted),
          [tokenName(entry.hash)]: null,
          [thingName(thingId)]: { ...thing, tokens, sessions },
        }
        return { put, result: endedWith(minted, [entry.hash]) }
      })
      if (!ended) throw new ThingwireError('not_found', 'the thing has no such token')
      onEnd(ended)
    },
  }

  async function change<Result>(
    purpose: PutPurpose,
    thingId: string,
    decide: (thing: ThingDocument) => { put: Record<string, Document | null>; result: Result },
  ): Promise<Result> {
    const outcome = await documents.transact([thingName(thingId)], ([document]) => {
      if (!document) return { put: {}, result: undefined, purpose }
      const { put, result } = decide(document as ThingDocument)
      return { put, result: { result }, purpose }
    })
    if (!outcome) throw new ThingwireError('unknown_thing')
    return outcome.result
  }
}

interface OfNewThing {
  readonly activationCode?: string
  readonly topics?: readonly TopicGrant[]
}

/** @returns in `put`: the documents of the thing, by name */
export function newThing(name: string, { activationCode, topics = [] }: OfNewThing = {}) {
  const thingId = createThingId()
  const token = issueToken(thingId, activationCode)
  const thing: ThingDocument = { name, createdAt: Date.now(), tokens: [token.entry], ...given(topics) }
  const put: Readonly<Record<string, Document>> = { ...token.put, [thingName(thingId)]: thing }
  return { thingId, token, put }
}

function given(topics: readonly TopicGrant[]): Pick<ThingDocument, 'topics'> {
  return topics.length > 0 ? { topics } : {}
}

function assertName(name: string): void {
  if (name.length <= maximumNameLength) return
  throw new ThingwireError('invalid_body', `name must be at most ${maximumNameLength} characters`)
}
