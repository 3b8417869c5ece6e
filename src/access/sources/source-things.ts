import type { Document, DocumentStore } from '../../core/ports.ts'
import { createThingId } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { SourcePrincipal, SourceThings } from '../access.ts'
import {
  nameInTopics,
  type SourceDeviceDocument,
  type SourceNameDocument,
  sourceDeviceName,
  sourceDevicePrefix,
  sourceDevicesOf,
  sourceName,
  type ThingDocument,
  thingName,
} from '../documents.ts'
import { LookupCache } from '../lookup-cache.ts'
import type { KnownSources } from './known-sources.ts'

const devicesInMemory = 100_000
/** Maximum number of things that a source makes, and that it makes on one node in a minute. */
const mostThings = 1_000
const mostInMinute = 60
const minute = 60_000
/** Within which every node has heard what another one has learned (contract §6.4), milliseconds. */
const longestHearing = 60_000
/** Maximum length of the names of devices and their things, characters. */
const longestName = 200

/** Makes and finds the things of sources. Each device has one thing, whichever node asks first. */
export class DeviceThings implements SourceThings {
  readonly #documents: DocumentStore
  readonly #known: KnownSources
  /** Name of this node; undefined: it is the only one. */
  readonly #self: string | undefined
  /** Ids of things by the name of the document of their device. */
  readonly #things: LookupCache<string>
  /** By source and device: the name of the document of the device. */
  readonly #names = new Map<string, Map<string, string>>()
  /** By source: how many things were made in the minute that began at `since`, milliseconds of a monotonic clock. */
  readonly #made = new Map<string, { since: number; count: number }>()

  constructor(documents: DocumentStore, known: KnownSources, self: string | undefined) {
    this.#documents = documents
    this.#known = known
    this.#self = self
    this.#things = new LookupCache(
      async name => ((await documents.get(name)) as SourceDeviceDocument | undefined)?.thingId,
      devicesInMemory,
    )
  }

  known(sourceId: string, device: string): string | undefined {
    return this.#things.known(this.#nameOf(sourceId, device))
  }

  /** `sourceDeviceName`, which takes longer than the rest of a look-up. */
  #nameOf(sourceId: string, device: string): string {
    const names = this.#names.get(sourceId) ?? new Map<string, string>()
    const known = names.get(device)
    if (known !== undefined) return known
    const name = sourceDeviceName(sourceId, device)
    if (names.size === devicesInMemory) names.clear()
    this.#names.set(sourceId, names.set(device, name))
    return name
  }

  async thingOf(
    source: SourcePrincipal,
    device: string,
    alias?: string,
    name?: string,
  ): ReturnType<SourceThings['thingOf']> {
    const own = sourceDeviceName(source.sourceId, device)
    const present = await this.#things.get(own)
    if (present !== undefined) return { thingId: present, isNew: false }
    const adopted = await this.#adopt(source.sourceId, device, own, alias ?? device)
    if (adopted !== undefined) return { thingId: adopted, isNew: true }
    if (name === undefined) return undefined
    const named = alias === undefined ? await this.#thingNamed(source.sourceId, device) : undefined
    if (named !== undefined) return { thingId: named, isNew: false }
    if (source.terms.things === 'known') return undefined
    const { isNew, isLate } = await this.#make(source.sourceId, device, own, alias, name)
    if (isLate) return await this.thingOf(source, device, alias, name)
    const thingId = await this.#things.get(own)
    return thingId === undefined ? undefined : { thingId, isNew }
  }

  /** The thing that was made by the name of the device goes on as the thing of the device. @returns its id */
  async #adopt(sourceId: string, device: string, own: string, alias: string): Promise<string | undefined> {
    const other = sourceDeviceName(sourceId, alias)
    const thingId = other === own ? undefined : await this.#things.get(other)
    if (thingId === undefined) return undefined
    await this.#documents.transact([own, other, thingName(thingId)], ([present, former, thing]) => {
      const isFree = !present && former?.isByName === true && former.thingId === thingId
      const adopted = thing && {
        [own]: { thingId },
        [thingName(thingId)]: { ...thing, source: { sourceId, device } },
        ...this.#nameFor(sourceId, alias, thingId),
      }
      const put = { [other]: null, ...adopted }
      return { put: isFree ? put : {}, result: undefined, purpose: 'register' }
    })
    this.#things.forget(other)
    return await this.#things.get(own)
  }

  /** The document by which other nodes find the thing of a device that they know by its name alone. */
  #nameFor(sourceId: string, name: string, thingId: string): Record<string, SourceNameDocument> {
    if (this.#self === undefined) return {}
    return {
      [nameInTopics(sourceId, name)]: { thingId, node: this.#self, until: Date.now() + longestHearing },
    }
  }

  /** The thing of a device whose identifier another node has learned, and this one has not heard yet. */
  async #thingNamed(sourceId: string, device: string): Promise<string | undefined> {
    if (this.#self === undefined) return undefined
    const entry = await this.#documents.get(nameInTopics(sourceId, device))
    return this.#isUnheard(entry) ? entry.thingId : undefined
  }

  #isUnheard(entry: Document | undefined): entry is SourceNameDocument {
    const { node = this.#self, until = 0 } = (entry ?? {}) as Partial<SourceNameDocument>
    return node !== this.#self && until >= Date.now()
  }

  /**
   * @returns `isNew`: false if another node has made the thing, or removed the source; `isLate`: nothing is made, since another node has made a
   * thing for the same device under its other name meanwhile
   */
  async #make(sourceId: string, device: string, own: string, alias: string | undefined, name: string) {
    if (device.length > longestName)
      throw tooMany(`things of devices that are named by ${longestName} characters`)
    await this.#assertRoom(sourceId)
    const thingId = createThingId()
    // Without a token: only the source writes to the thing until an operator gives it one.
    const thing: ThingDocument = {
      name: name.slice(0, longestName),
      createdAt: Date.now(),
      tokens: [],
      source: { sourceId, device },
    }
    const isByName = alias === undefined
    const entry: SourceDeviceDocument = { thingId, ...(isByName && { isByName }) }
    const hasTwoNames = alias !== undefined && alias !== device
    const other = hasTwoNames ? sourceDeviceName(sourceId, alias) : nameInTopics(sourceId, device)
    const put = {
      ...{ [own]: entry, [thingName(thingId)]: thing },
      ...(hasTwoNames && this.#nameFor(sourceId, alias, thingId)),
    }
    return await this.#documents.transact([own, other, sourceName(sourceId)], ([present, found, source]) => {
      const isMade = present !== undefined || source === undefined
      const isTaken = hasTwoNames ? found?.isByName === true : isByName && this.#isUnheard(found)
      const isNew = !isMade && !isTaken
      return {
        put: isNew ? put : {},
        result: { isNew, isLate: !isMade && isTaken },
        purpose: 'register',
      }
    })
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
    const thingId = await this.#things.get(sourceDeviceName(sourceId, device))
    if (thingId === undefined) return
    const name = thingName(thingId)
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
    const present = await this.#things.get(own)
    const former = present === undefined || present === thingId ? [] : [thingName(present)]
    const devices = await this.#documents.transact([thingName(thingId), own, ...former], found => {
      const [thing, entry, other] = found
      if (!thing) throw new ThingwireError('unknown_thing')
      if (entry?.thingId !== present) return { put: {}, result: undefined, purpose: 'register' }
      const { source: earlier } = thing as ThingDocument
      const left = earlier ? sourceDeviceName(earlier.sourceId, earlier.device) : own
      const put: Record<string, Document | null> = { [left]: null, [own]: { thingId } }
      for (const name of former) if (other) put[name] = withoutSource(other)
      put[thingName(thingId)] = { ...thing, source: { sourceId, device } }
      return { put, result: [left, own], purpose: 'register' }
    })
    for (const name of devices ?? [own]) this.#things.forget(name)
    // The device has got another thing meanwhile.
    if (!devices) await this.attach(thingId, sourceId, device)
  }

  /** Call this when the thing of a device may have changed. @param device name of its document, without the prefix */
  forget(device: string): void {
    this.#things.forget(sourceDevicePrefix + device)
  }

  forgetAll(): void {
    this.#things.forgetAll()
  }
}

function withoutSource({ source: _, ...thing }: Document): Document {
  return thing
}

function tooMany(bound: string): ThingwireError {
  return new ThingwireError('too_many_things', `a source makes at most ${bound}`)
}
