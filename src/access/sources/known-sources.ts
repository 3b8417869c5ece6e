import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { type SourceDocument, sourceName, sourcePrefix } from '../documents.ts'

/** All sources, in memory: they are few, and their topics count for every grant. */
export class KnownSources {
  readonly #documents: Pick<DocumentStore, 'get' | 'list'>
  readonly #sources = new Map<string, SourceDocument>()

  constructor(documents: Pick<DocumentStore, 'get' | 'list'>) {
    this.#documents = documents
  }

  /** Reads all sources. @throws ThingwireError if the store fails */
  async load(): Promise<void> {
    const missing = new Set(this.#sources.keys())
    for await (const [sourceId, source] of listDocuments(this.#documents, sourcePrefix)) {
      this.#sources.set(sourceId, source as SourceDocument)
      missing.delete(sourceId)
    }
    for (const sourceId of missing) this.#sources.delete(sourceId)
  }

  /** Call this when a source may have changed. @throws ThingwireError if the store fails */
  async look(sourceId: string): Promise<void> {
    const source = (await this.#documents.get(sourceName(sourceId))) as SourceDocument | undefined
    if (source) this.#sources.set(sourceId, source)
    else this.forget(sourceId)
  }

  /** Call this when a source was removed. */
  forget(sourceId: string): void {
    this.#sources.delete(sourceId)
  }

  get(sourceId: string): SourceDocument | undefined {
    return this.#sources.get(sourceId)
  }

  get all(): ReadonlyMap<string, SourceDocument> {
    return this.#sources
  }

  /** The filters of all sources. */
  get topics(): readonly string[] {
    return [...this.#sources.values()].flatMap(({ topics }) => topics)
  }
}
