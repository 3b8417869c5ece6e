import { isThingId } from '../../core/token.ts'
import type { ServerClient } from '../client/client.ts'
import { describeThing, findNamed, type NamedThing } from '../client/named-thing.ts'
import { failure } from '../exit.ts'
import type { LoadState } from '../load/load-state.ts'

/** Finds or creates the thing that gets the records of an exported thing. */
export class Targets {
  readonly #client: ServerClient
  readonly #state: LoadState
  /** The thing that `--to` names, which gets all records. */
  readonly #only: NamedThing | undefined
  readonly #found = new Map<string, string>()
  /** Number of things that were created. */
  made = 0

  constructor(client: ServerClient, state: LoadState, only: NamedThing | undefined) {
    this.#client = client
    this.#state = state
    this.#only = only
  }

  /**
   * The thing with the same id; else the only thing with the same name that no other exported thing has taken; else a new thing.
   *
   * @throws CommandError failed if several things fit, or if several exported things would get the same thing
   */
  async idFor(source: NamedThing): Promise<string> {
    const known = this.#found.get(source.thingId)
    if (known !== undefined) return known
    if (this.#only && this.#found.size > 0) {
      throw failure('the file contains more than one thing: import it without --to')
    }
    const target = this.#only?.thingId ?? this.#state.things[source.thingId] ?? (await this.#search(source))
    this.#found.set(source.thingId, target)
    return target
  }

  async #search({ thingId, name }: NamedThing): Promise<string> {
    if (isThingId(thingId) && (await describeThing(this.#client, thingId))) return thingId
    const wanted = name || thingId
    const taken = new Set(this.#found.values())
    const named = await findNamed(this.#client, wanted)
    const called = named.map(thing => thing.thingId).filter(id => !taken.has(id))
    if (called.length > 1)
      throw failure(
        `${called.length} things are called ${wanted}: rename all but one (thingwire things rename <id> <name>), or import a file of this thing alone with --to <id>`,
        called,
      )
    const [target] = called
    if (target === undefined) return await this.#make(thingId, wanted)
    console.error(`thingwire: note: ${wanted} (${thingId}) goes into ${target}, which has the same name`)
    return target
  }

  async #make(sourceId: string, name: string): Promise<string> {
    const { thingId } = await this.#client.post<NamedThing>('/v2/admin/things', { name })
    this.made++
    // Kept immediately: a run that continues this one must not create the thing again.
    await this.#state.keep({ things: { ...this.#state.things, [sourceId]: thingId } }).catch(() => {})
    return thingId
  }
}
