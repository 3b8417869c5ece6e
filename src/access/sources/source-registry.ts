import { listNames, removals } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { createThingId, createToken, hashToken, isThingId } from '../../core/token.ts'
import { overlaps } from '../../core/topics/topic-filter.ts'
import { faultOfSourceTopic } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { SourceOptions, SourceRegistry, SourceRules, SourceSummary } from '../access.ts'
import {
  type SourceDocument,
  type SourceTokenDocument,
  sourceDevicesOf,
  sourceFactsOf,
  sourceName,
  tokenName,
} from '../documents.ts'
import type { Ended } from '../revocation/ended.ts'
import type { KnownSources } from './known-sources.ts'

const maximumSources = 1_000
const maximumTopics = 100
const maximumNameLength = 200

interface SourceRegistryParts {
  readonly documents: DocumentStore
  readonly known: KnownSources
  readonly rules: SourceRules
  /** Removes the list of what could not be read. */
  readonly forgetErrors: (sourceId: string) => Promise<void>
  /** Called when a source was durably removed, or its terms have changed. */
  readonly onEnd: (ended: Ended) => void
}

export function createSourceRegistry(parts: SourceRegistryParts): SourceRegistry {
  const { documents, known, rules, forgetErrors, onEnd } = parts
  return {
    async create(options) {
      if (known.all.size >= maximumSources) throw new ThingwireError('too_many_sources')
      // A source has an id like that of a thing, so that what it cannot read is listed as refused writes of things are.
      const sourceId = createThingId()
      const sourceToken = createToken()
      const hash = hashToken(sourceToken)
      const source = { ...termsOf(options), hash, createdAt: Date.now() }
      assertApart(sourceId, source, options.overlap)
      const token: SourceTokenDocument = { sourceId }
      await put(sourceId, source, { [tokenName(hash)]: token })
      return { sourceId, sourceToken }
    },

    async list() {
      return [...known.all].map(([sourceId, source]) => summarise(sourceId, source))
    },

    async get(sourceId) {
      return summarise(sourceId, found(sourceId))
    },

    async change(sourceId, options) {
      const { hash, createdAt, ...before } = found(sourceId)
      const source = { ...termsOf({ ...before, ...options }), hash, createdAt }
      if (options.topics) assertApart(sourceId, source, options.overlap)
      await put(sourceId, source)
      onEnd({ sources: [sourceId], tokens: [] })
    },

    async remove(sourceId) {
      const { hash } = found(sourceId)
      await documents.put({ [sourceName(sourceId)]: null, [tokenName(hash)]: null }, 'essential')
      await known.look(sourceId)
      onEnd({ sources: [sourceId], tokens: [hash] })
      for (const prefix of [sourceDevicesOf(sourceId), sourceFactsOf(sourceId)])
        for await (const removal of removals(listNames(documents, prefix)))
          await documents.put(removal, 'essential')
      await forgetErrors(sourceId)
    },
  }

  async function put(sourceId: string, source: SourceDocument, token = {}): Promise<void> {
    await documents.transact([sourceName(sourceId)], () => ({
      put: { [sourceName(sourceId)]: source, ...token },
      result: undefined,
      purpose: 'register',
    }))
    await known.look(sourceId)
  }

  function found(sourceId: string): SourceDocument {
    const source = isThingId(sourceId) ? known.get(sourceId) : undefined
    if (!source) throw new ThingwireError('not_found', 'there is no such source')
    return source
  }

  function termsOf(options: SourceOptions): Omit<SourceDocument, 'hash' | 'createdAt'> {
    const { name, formats = rules.defaultFormats, pattern, things = 'create' } = options
    if (name === '' || name.length > maximumNameLength)
      throw new ThingwireError('invalid_body', `name must be 1 to ${maximumNameLength} characters`)
    const { topics = rules.readsTopics(formats) ? ['#'] : [] } = options
    const fault = rules.fault(formats, pattern) ?? faultOfTopics(topics)
    if (fault !== undefined) throw new ThingwireError('invalid_body', fault)
    return { name, formats, topics, things, ...(pattern !== undefined && { pattern }) }
  }

  /** @throws ThingwireError topics_overlap */
  function assertApart(sourceId: string, { topics }: SourceDocument, mayOverlap = false): void {
    if (mayOverlap) return
    for (const [otherId, other] of known.all) {
      const shared = topics.find(filter => other.topics.some(another => overlaps(filter, another)))
      if (otherId === sourceId || shared === undefined) continue
      const message = `the topics overlap those of the source ${other.name} (${otherId}): each would get messages of the other one. Choose narrower topics, or allow it with "overlap":true`
      throw new ThingwireError('topics_overlap', message)
    }
  }
}

function faultOfTopics(topics: readonly string[]): string | undefined {
  if (topics.length > maximumTopics) return `topics must have at most ${maximumTopics} filters`
  for (const filter of topics) {
    const fault = faultOfSourceTopic(filter)
    if (fault !== undefined) return `topics: ${fault}`
  }
  return undefined
}

function summarise(sourceId: string, source: SourceDocument): SourceSummary {
  const { name, formats, pattern, topics, things, createdAt } = source
  return { sourceId, name, formats, ...(pattern !== undefined && { pattern }), topics, things, createdAt }
}
