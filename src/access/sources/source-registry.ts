import type { DocumentStore } from '../../core/ports.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { createThingId, createToken, hashToken, isThingId } from '../../core/token.ts'
import { overlaps } from '../../core/topics/topic-filter.ts'
import { faultOfSourceTopic } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { SourceOptions, SourceRegistry, SourceRules, SourceSummary } from '../access.ts'
import {
  type RemovedThingDocument,
  removedThingName,
  type SourceDocument,
  type SourceTokenDocument,
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
  /** Redacts filters and patterns that error messages quote. */
  readonly redactor: Redactor
  /** Called when a source was durably removed. */
  readonly onEnd: (ended: Ended) => void
  /** Called when a source was durably made or changed. */
  readonly onChange: (sourceId: string) => void
}

export function createSourceRegistry(parts: SourceRegistryParts): SourceRegistry {
  const { documents, known, rules, redactor, onEnd, onChange } = parts
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
      const put = { [sourceName(sourceId)]: source, [tokenName(hash)]: token }
      await documents.transact([sourceName(sourceId)], () => ({
        put,
        result: undefined,
        purpose: 'register',
      }))
      await known.look(sourceId)
      onChange(sourceId)
      return { sourceId, sourceToken }
    },

    async list() {
      return [...known.all].map(([sourceId, source]) => summarise(sourceId, source)).sort(byId)
    },

    async get(sourceId) {
      return summarise(sourceId, found(sourceId))
    },

    async change(sourceId, options) {
      found(sourceId)
      await documents.transact([sourceName(sourceId)], ([document]) => {
        const { hash, createdAt, pattern, ...before } = present(document as SourceDocument | undefined)
        const kept = pattern !== undefined && options.formats === undefined ? { pattern } : {}
        const source = { ...termsOf({ ...before, ...kept, ...options }), hash, createdAt }
        if (options.topics) assertApart(sourceId, source, options.overlap)
        // Must succeed even on a full disk, since it may revoke rights.
        return { put: { [sourceName(sourceId)]: source }, result: undefined, purpose: 'essential' }
      })
      await known.look(sourceId)
      onChange(sourceId)
    },

    async renewToken(sourceId) {
      found(sourceId)
      const sourceToken = createToken()
      const hash = hashToken(sourceToken)
      const token: SourceTokenDocument = { sourceId }
      const former = await documents.transact([sourceName(sourceId)], ([document]) => {
        const source = present(document as SourceDocument | undefined)
        const put = {
          [sourceName(sourceId)]: { ...source, hash },
          [tokenName(hash)]: token,
          [tokenName(source.hash)]: null,
        }
        // Must succeed even on a full disk, since the token before may be in wrong hands.
        return { put, result: source.hash, purpose: 'essential' }
      })
      await known.look(sourceId)
      onEnd({ tokens: [former] })
      return { sourceToken }
    },

    async remove(sourceId) {
      const { hash } = found(sourceId)
      const removal: RemovedThingDocument = { startedAt: Date.now() }
      const put = {
        [sourceName(sourceId)]: null,
        [tokenName(hash)]: null,
        [removedThingName(sourceId)]: removal,
      }
      await documents.transact([sourceName(sourceId)], ([document]) => {
        present(document as SourceDocument | undefined)
        return { put, result: undefined, purpose: 'essential' }
      })
      onEnd({ sources: [sourceId], tokens: [hash] })
    },
  }

  function found(sourceId: string): SourceDocument {
    return present(isThingId(sourceId) ? known.get(sourceId) : undefined)
  }

  function termsOf(options: SourceOptions): Omit<SourceDocument, 'hash' | 'createdAt'> {
    const { name, formats = rules.defaultFormats, pattern, things = 'create' } = options
    if (name === '' || name.length > maximumNameLength)
      throw new ThingwireError('invalid_body', `name must be 1 to ${maximumNameLength} characters`)
    const { topics = rules.readsTopics(formats) ? ['#'] : [] } = options
    const fault = rules.fault(formats, pattern, topics) ?? faultOfTopics(topics)
    if (fault !== undefined) throw new ThingwireError('invalid_body', redactor.redact(fault))
    return { name, formats, topics, things, ...(pattern !== undefined && { pattern }) }
  }

  /** @throws ThingwireError topics_overlap */
  function assertApart(sourceId: string, { topics }: SourceDocument, mayOverlap = false): void {
    if (mayOverlap) return
    for (const [otherId, other] of known.all) {
      const shared = topics.find(filter => other.topics.some(another => overlaps(filter, another)))
      if (otherId === sourceId || shared === undefined) continue
      const message = `the topics overlap those of the source ${other.name} (${otherId}): each would get messages of the other one. Choose narrower topics, or allow it: "overlap":true in a request, --overlap in a command`
      throw new ThingwireError('topics_overlap', message)
    }
  }
}

/** @throws ThingwireError not_found */
function present(source: SourceDocument | undefined): SourceDocument {
  if (!source) throw new ThingwireError('not_found', 'there is no such source')
  return source
}

function faultOfTopics(topics: readonly string[]): string | undefined {
  if (topics.length > maximumTopics) return `topics must have at most ${maximumTopics} filters`
  for (const filter of topics) {
    const fault = faultOfSourceTopic(filter)
    if (fault !== undefined) return `topics: ${fault}`
  }
  return undefined
}

const byId = (one: SourceSummary, other: SourceSummary) => (one.sourceId < other.sourceId ? -1 : 1)

function summarise(sourceId: string, source: SourceDocument): SourceSummary {
  const { name, formats, pattern, topics, things, createdAt } = source
  return { sourceId, name, formats, ...(pattern !== undefined && { pattern }), topics, things, createdAt }
}
