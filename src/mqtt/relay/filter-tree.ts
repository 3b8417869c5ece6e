/** A trie of topic filters or topics, with a node for each level. Finds matches without comparing every entry. */
export class FilterTree<Value> {
  readonly #root = new Level<Value>()

  /** @param key identifies the value: an earlier value with the same filter and key is replaced */
  add(filter: string, value: Value, key: unknown = value): void {
    let level = this.#root
    for (const name of filter.split('/')) level = level.enter(name)
    level.values ??= new Map()
    level.values.set(key, value)
  }

  remove(filter: string, key: unknown): void {
    const path = [this.#root]
    const names = filter.split('/')
    for (const name of names) {
      const next = path.at(-1)?.below?.get(name)
      if (!next) return
      path.push(next)
    }
    path.at(-1)?.values?.delete(key)
    for (let depth = names.length; depth > 0 && path[depth]?.isEmpty; depth--) {
      path[depth - 1]?.below?.delete(names[depth - 1] as string)
    }
  }

  /** The values of all filters that match the topic (MQTT-4.7). A value added under several filters is returned several times. */
  match(topic: string): Value[] {
    const found: Value[] = []
    collect(this.#root, topic.split('/'), 0, found)
    return found
  }

  /**
   * The values of this tree's topics that match a filter of another tree, each once, in small pieces. A piece may be
   * empty. The tree may change between two pieces; values added in the meantime may be missing.
   */
  matchedBy(filters: FilterTree<unknown>): Generator<Iterable<Value>> {
    return walk(this.#root, [filters.#root], false, true)
  }
}

class Level<Value> {
  /** Values by key. */
  values: Map<unknown, Value> | undefined
  below: Map<string, Level<Value>> | undefined

  enter(name: string): Level<Value> {
    this.below ??= new Map()
    const level = this.below.get(name) ?? new Level<Value>()
    this.below.set(name, level)
    return level
  }

  get hasValues(): boolean {
    return this.values !== undefined && this.values.size > 0
  }

  get isEmpty(): boolean {
    return !this.hasValues && (this.below === undefined || this.below.size === 0)
  }
}

function collect<Value>(level: Level<Value>, names: readonly string[], place: number, found: Value[]): void {
  const name = names[place]
  const mayBeWild = place > 0 || !name?.startsWith('$')
  // `a/#` also matches `a` (MQTT-4.7.1-2).
  if (mayBeWild) addAll(found, level.below?.get('#')?.values)
  if (name === undefined) {
    addAll(found, level.values)
    return
  }
  const same = level.below?.get(name)
  if (same) collect(same, names, place + 1, found)
  const any = mayBeWild && level.below?.get('+')
  if (any) collect(any, names, place + 1, found)
}

function addAll<Value>(found: Value[], values: ReadonlyMap<unknown, Value> | undefined): void {
  if (values) for (const value of values.values()) found.push(value)
}

/**
 * @param asked the levels of the filters' tree that match the path to `level`
 * @param isAll whether a `#` in a higher level matches `level` and everything below it
 */
function* walk<Value>(
  level: Level<Value>,
  asked: readonly Level<unknown>[],
  isAll: boolean,
  isRoot: boolean,
): Generator<Iterable<Value>> {
  const isRest = isAll || asked.some(each => each.below?.has('#'))
  if (isRest || asked.some(each => each.hasValues)) yield level.values?.values() ?? []
  else yield []
  if (!level.below) return
  const wild = asked.flatMap(each => each.below?.get('+') ?? [])
  const named = asked.reduce((sum, each) => sum + (each.below?.size ?? 0), 0)
  // Iterates over the smaller set of names, or over the names of the topics if a wildcard may match any name.
  const isByTopics = isRest || wild.length > 0 || named > level.below.size
  const ofFilters = () => new Set(asked.flatMap(each => [...(each.below?.keys() ?? [])]))
  for (const name of isByTopics ? level.below.keys() : ofFilters()) {
    const next = level.below.get(name)
    if (!next) continue
    // A wildcard in the first level does not match names that start with `$` (MQTT-4.7.2-1).
    const mayBeWild = !(isRoot && name.startsWith('$'))
    const isAllBelow = isRest && mayBeWild
    const same = isAllBelow ? [] : asked.flatMap(each => each.below?.get(name) ?? [])
    const askedBelow = mayBeWild && !isAllBelow ? [...same, ...wild] : same
    if (isAllBelow || askedBelow.length > 0) yield* walk(next, askedBelow, isAllBelow, false)
    else yield []
  }
}
