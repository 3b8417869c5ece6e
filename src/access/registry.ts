import type { Document, DocumentStore } from '../core/ports.ts'
import { createThingId } from '../core/token.ts'
import { ThingwireError } from '../errors.ts'
import type { ThingRegistry, TokenSummary } from './access.ts'
import {
  removalName,
  seenName,
  type ThingDocument,
  type TokenDocument,
  thingName,
  tokenName,
} from './documents.ts'
import { type IssuedToken, issueToken } from './tokens.ts'

const maximumTokens = 10
const maximumNameLength = 200

export interface RegistryParts {
  readonly documents: DocumentStore
  readonly list: ThingRegistry['list']
  /** Called as soon as these tokens of a thing are dead. */
  readonly onRevoke: (hashes: readonly string[]) => void
  /** Called as soon as a thing is unlisted, its tokens dead and its removal noted in the store. */
  readonly onRemove: (thingId: string) => void
}

export function createRegistry({ documents, list, onRevoke, onRemove }: RegistryParts): ThingRegistry {
  return {
    list,

    async create({ name = '' }) {
      assertName(name)
      const { thingId, token, put } = newThing(name)
      await documents.transact([thingName(thingId)], () => ({ put, result: undefined }))
      return { thingId, thingToken: token.thingToken }
    },

    async rename(thingId, name) {
      assertName(name)
      await change(thingId, thing => ({
        put: { [thingName(thingId)]: { ...thing, name } },
        result: undefined,
      }))
    },

    async remove(thingId) {
      const removal = { startedAt: Date.now() }
      const hashes = await change(thingId, thing => {
        const hashes = thing.tokens.map(token => token.hash)
        const put: Record<string, Document | null> = {
          [thingName(thingId)]: null,
          [seenName(thingId)]: null,
          [removalName(thingId)]: removal,
        }
        for (const hash of hashes) put[tokenName(hash)] = null
        return { put, result: hashes }
      })
      onRevoke(hashes)
      onRemove(thingId)
    },

    async addToken(thingId) {
      const token = issueToken(thingId)
      const added = await change(thingId, thing => {
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
      return tokens.flatMap(token => (token ? [summarise(token as TokenDocument)] : []))
    },

    async removeToken(thingId, tokenId) {
      const hash = await change(thingId, thing => {
        const entry = thing.tokens.find(token => token.tokenId === tokenId)
        if (!entry) return { put: {}, result: undefined }
        const tokens = thing.tokens.filter(token => token !== entry)
        const put = { [tokenName(entry.hash)]: null, [thingName(thingId)]: { ...thing, tokens } }
        return { put, result: entry.hash }
      })
      if (hash === undefined) throw new ThingwireError('not_found', 'the thing has no such token')
      onRevoke([hash])
    },
  }

  async function change<Result>(
    thingId: string,
    decide: (thing: ThingDocument) => { put: Record<string, Document | null>; result: Result },
  ): Promise<Result> {
    const outcome = await documents.transact([thingName(thingId)], ([document]) => {
      if (!document) return { put: {}, result: undefined }
      const { put, result } = decide(document as ThingDocument)
      return { put, result: { result } }
    })
    if (!outcome) throw new ThingwireError('unknown_thing')
    return outcome.result
  }
}

interface NewThing {
  readonly thingId: string
  readonly token: IssuedToken
  /** Documents by name, to be put. */
  readonly put: Readonly<Record<string, Document>>
}

/** @param activationCode the code by which the thing registers itself */
export function newThing(name: string, activationCode?: string): NewThing {
  const thingId = createThingId()
  const token = issueToken(thingId, activationCode)
  const thing: ThingDocument = { name, createdAt: Date.now(), tokens: [token.entry] }
  return { thingId, token, put: { ...token.put, [thingName(thingId)]: thing } }
}

function summarise({ tokenId, createdAt, used }: TokenDocument): TokenSummary {
  return { tokenId, createdAt, used }
}

function assertName(name: string): void {
  if (name.length <= maximumNameLength) return
  throw new ThingwireError('invalid_body', `name must be at most ${maximumNameLength} characters`)
}
