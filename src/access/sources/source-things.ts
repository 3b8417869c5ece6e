import type { Document, DocumentStore } from '../../core/ports.ts'
import { createThingId } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { SourcePrincipal, SourceThings } from '../access.ts'
import {
  type SourceDeviceDocument,
  sourceDeviceName,
  sourceDevicesOf,
  type ThingDocument,
  thingName,
} from '../documents.ts'
import type { KnownSources } from './known-sources.ts'

/** Maximum number of things that a source makes, and that it makes on one node in a minute. */
const mostThings = 1_000
const mostInMinute = 60
const minute = 60_000

interface Found {
  readonly thingId: string
  readonly isNew: boolean
}

/** Makes and finds the things of sources. Each device has one thing, whichever node asks first. */
export class DeviceThings implements SourceThings {
  readonly #documents: DocumentStore
  readonly #known: KnownSources
  /** Ids of things by the name of the document of their device. */
  readonly #things = new Map<string, string>()
  /** By source: how many things were made in the minute that began at `since`, milliseconds of a monotonic clock. */
  readonly #made = new Map<string, { since: number; count: number }>()

  constructor(documents: DocumentStore, known: KnownSources) {
    this.#documents = documents
    this.#known = known
  }

  known(sourceId: string, device: string): string | undefined {
    return this.#things.get(sourceDeviceName(sourceId, device))
  }

  async thingOf(
    source: SourcePrincipal,
    device: string,
    alias?: string,
    name?: string,
  ): Promise<Found | undefined> {
    const own = sourceDeviceName(source.sourceId, device)
    const found =
      (await this.#present(own)) ??
      (await this.#adopt(source.sourceId, device, own, alias)) ??
      (name === undefined ? undefined : await this.#make(source, device, own, alias, name))
    if (found) this.#things.set(own, found.thingId)
    return found
  }

  async #present(own: string): Promise<Found | undefined> {
    const entry = await this.#documents.get(own)
    return entry && { thingId: thingIn(entry), isNew: false }
  }

  /** The thing that was made by the name of the device goes on as the thing of the device. */
  async #adopt(sourceId: string, device: string, own: string, alias?: string): Promise<Found | undefined> {
    const other = alias === undefined ? own : sourceDeviceName(sourceId, alias)
    const byName = (await this.#documents.get(other)) as SourceDeviceDocument | undefined
    if (other === own || !byName?.isByName) return undefined
    const { thingId } = byName
    const isAdopted = await this.#documents.transact([own, other, thingName(thingId)], found => {
      const [present, former, thing] = found
      const put = {
        [other]: null,
        [own]: { thingId },
        [thingName(thingId)]: { ...thing, source: { sourceId, device } },
      }
      const isFree = !present && former !== undefined && thing !== undefined
      return { put: isFree ? put : {}, result: isFree, purpose: 'register' }
    })
    this.#things.delete(other)
    return isAdopted ? { thingId, isNew: false } : await this.#present(own)
  }

  async #make(
    { sourceId, terms }: SourcePrincipal,
    device: string,
    own: string,
    alias: string | undefined,
    name: string,
  ): Promise<Found | undefined> {
    if (terms.things === 'known') return undefined
    await this.#assertRoom(sourceId)
    const thingId = createThingId()
    // Without a token: only the source writes to the thing until an operator gives it one.
    const thing: ThingDocument = { name, createdAt: Date.now(), tokens: [], source: { sourceId, device } }
    const entry: SourceDeviceDocument = alias === undefined ? { thingId, isByName: true } : { thingId }
    const isNew = await this.#documents.transact([own], ([present]) => ({
      put: present ? {} : { [own]: entry, [thingName(thingId)]: thing },
      result: present === undefined,
      purpose: 'register',
    }))
    return isNew ? { thingId, isNew } : await this.#present(own)
  }

  /** @throws ThingwireError too_many_things */
  async #assertRoom(sourceId: string): Promise<void> {
    const now = performance.now()
    const present = this.#made.get(sourceId)
    const counted = present && now - present.since < minute ? present : { since: now, count: 0 }
    if (counted.count >= mostInMinute) throw tooMany(`${mostInMinute} new things in a minute`)
    const names = await this.#documents.names(sourceDevicesOf(sourceId), { limit: mostThings })
    if (names.length >= mostThings) throw tooMany(`${mostThings} things`)
    counted.count++
    this.#made.set(sourceId, counted)
  }

  async markGone(sourceId: string, device: string, isGone: boolean): Promise<void> {
    const entry = await this.#documents.get(sourceDeviceName(sourceId, device))
    if (!entry) return
    const name = thingName(thingIn(entry))
    await this.#documents.transact([name], ([thing]) => {
      const { source } = (thing ?? {}) as Partial<ThingDocument>
      const change = { result: undefined, purpose: 'register' } as const
      if (!source || (source.isGone === true) === isGone) return { put: {}, ...change }
      const { isGone: _, ...rest } = source
      return { put: { [name]: { ...thing, source: isGone ? { ...rest, isGone } : rest } }, ...change }
    })
  }

  async attach(thingId: string, sourceId: string, device: string): Promise<void> {
    if (!this.#known.get(sourceId)) throw new ThingwireError('not_found', 'there is no such source')
    const own = sourceDeviceName(sourceId, device)
    const entry = await this.#documents.get(own)
    const former = entry && thingIn(entry) !== thingId ? [thingName(thingIn(entry))] : []
    const changed = await this.#documents.transact([thingName(thingId), ...former], ([thing, other]) => {
      if (!thing) throw new ThingwireError('unknown_thing')
      const put: Record<string, Document | null> = {}
      const { source: earlier } = thing as ThingDocument
      if (earlier) put[sourceDeviceName(earlier.sourceId, earlier.device)] = null
      for (const name of former) if (other) put[name] = withoutSource(other)
      put[thingName(thingId)] = { ...thing, source: { sourceId, device } }
      put[own] = { thingId }
      return { put, result: Object.keys(put), purpose: 'register' }
    })
    this.forget(changed)
  }

  /** Call this when things were removed. */
  forgetThings(thingIds: readonly string[]): void {
    for (const [name, thingId] of this.#things) if (thingIds.includes(thingId)) this.#things.delete(name)
  }

  /** @param names names of documents that may have changed; undefined if any may have changed */
  forget(names: readonly string[] | undefined): void {
    if (!names) this.#things.clear()
    for (const name of names ?? []) this.#things.delete(name)
  }
}

function withoutSource({ source: _, ...thing }: Document): Document {
  return thing
}

function thingIn(entry: Document): string {
  return (entry as SourceDeviceDocument).thingId
}

function tooMany(bound: string): ThingwireError {
  return new ThingwireError('too_many_things', `a source makes at most ${bound}`)
}
