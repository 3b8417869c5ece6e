import type { SourcePrincipal } from '../access/access.ts'
import { sourceFactsOf } from '../access/documents.ts'
import { listDocuments } from '../core/list-documents.ts'
import type { Document, DocumentStore } from '../core/ports.ts'
import { hashToken } from '../core/token.ts'
import type { DeviceDescription, Fact, SourceFormat, SourceReader } from '../formats/format.ts'

/** Maximum number of facts that a source teaches: a house with 1,000 things of 20 resources each. */
const mostFacts = 20_000

const topicsInMemory = 10_000

/** `source-facts/<source id>/<format>/<hash of the name>` */
type FactDocument = { readonly name: string; readonly fact: Fact }

/** By name of the document. */
export type FactDocuments = Record<string, FactDocument | null>

export interface OpenFormat {
  readonly name: string
  readonly reader: SourceReader
}

/** The formats of a source, and what its messages have taught them, on any node. */
export class SourceFormats {
  readonly all: readonly OpenFormat[]
  readonly #documents: DocumentStore
  readonly #prefix: string
  /** By name of the document: the name of a fact, and the hash of its JSON. */
  readonly #facts = new Map<string, { readonly name: string; readonly hash: string }>()
  /** By topic. Facts may change it. */
  readonly #ofTopic = new Map<string, OpenFormat>()
  /** Set while facts are looked up that another node was taught. A message waits for them: a device may have another name by now. */
  hearing: Promise<unknown> | undefined

  private constructor(
    { sourceId }: SourcePrincipal,
    formats: readonly SourceFormat[],
    documents: DocumentStore,
  ) {
    this.all = formats.map(format => ({ name: format.name, reader: format.begin() }))
    this.#documents = documents
    this.#prefix = sourceFactsOf(sourceId)
  }

  /** @throws ThingwireError if the store fails */
  static async open(
    source: SourcePrincipal,
    formats: readonly SourceFormat[],
    documents: DocumentStore,
  ): Promise<SourceFormats> {
    const opened = new SourceFormats(source, formats, documents)
    for await (const [rest, document] of listDocuments(documents, opened.#prefix))
      opened.#hearFact(opened.#prefix + rest, document)
    return opened
  }

  /** @param names names of documents that another node may have changed */
  async hear(names: readonly string[]): Promise<void> {
    const changed = names.filter(name => name.startsWith(this.#prefix))
    if (changed.length === 0) return
    const hearing = Promise.all([this.hearing, ...changed.map(name => this.#hearAgain(name))])
    this.hearing = hearing
    await hearing
    if (this.hearing === hearing) this.hearing = undefined
  }

  async #hearAgain(documentName: string): Promise<void> {
    const before = this.#facts.get(documentName)
    const document = await this.#documents.get(documentName)
    // What this node was taught meanwhile is newer.
    if (this.#facts.get(documentName) === before) this.#hearFact(documentName, document)
  }

  #hearFact(documentName: string, document: Document | undefined): void {
    const [format] = documentName.slice(this.#prefix.length).split('/')
    const reader = this.all.find(({ name }) => name === format)?.reader
    const known = this.#facts.get(documentName)
    const { name = known?.name, fact = null } = (document ?? {}) as Partial<FactDocument>
    if (reader && name !== undefined) this.#set(reader, documentName, name, fact, hashOf(fact))
  }

  /** The format of messages on a topic; undefined if the source has none. */
  ofTopic(topic: string): OpenFormat | undefined {
    const known = this.#ofTopic.get(topic)
    if (known) return known
    const format = this.#find(topic)
    if (this.#ofTopic.size === topicsInMemory) this.#ofTopic.clear()
    if (format) this.#ofTopic.set(topic, format)
    return format
  }

  /** A format that was taught the topic goes before one that only knows its form. */
  #find(topic: string): OpenFormat | undefined {
    let byForm: OpenFormat | undefined
    for (const format of this.all) {
      const knows = format.reader.knows(topic)
      if (knows === 'fact') return format
      if (knows === 'form') byForm ??= format
    }
    return byForm
  }

  /** What the first format that knows the device says of it: a Zigbee2MQTT may announce its devices to Home Assistant, too. */
  describe(device: string): DeviceDescription | undefined {
    for (const { reader } of this.all) {
      const description = reader.describe(device)
      if (description) return description
    }
    return undefined
  }

  /**
   * Learns what a message says.
   *
   * @param learned gets the documents of what is new, for `keep`
   * @param onMany called with the name of a fact that is one too many, and why
   */
  learn(
    { name: format, reader }: OpenFormat,
    facts: ReadonlyMap<string, Fact | null>,
    learned: FactDocuments,
    onMany: (name: string, why: string) => void,
  ): void {
    for (const [name, fact] of facts) {
      const documentName = `${this.#prefix}${format}/${hashToken(name)}`
      const hash = hashOf(fact)
      if (hash === this.#facts.get(documentName)?.hash) continue
      if (fact && !this.#facts.has(documentName) && this.#facts.size >= mostFacts) {
        onMany(name, `a source announces at most ${mostFacts} devices and resources`)
        continue
      }
      this.#set(reader, documentName, name, fact, hash)
      learned[documentName] = fact && { name, fact }
    }
  }

  /** @returns a promise that resolves when the documents are durable; undefined if there are none */
  keep(learned: FactDocuments): Promise<void> | undefined {
    return Object.keys(learned).length > 0 ? this.#documents.put(learned, 'register') : undefined
  }

  #set(
    reader: SourceReader,
    documentName: string,
    name: string,
    fact: Fact | null,
    hash: string | undefined,
  ): void {
    if (hash === undefined) this.#facts.delete(documentName)
    else this.#facts.set(documentName, { name, hash })
    this.#ofTopic.clear()
    reader.learn(name, fact)
  }
}

const hashOf = (fact: Fact | null) => (fact ? hashToken(JSON.stringify(fact)) : undefined)
