/** Topic filters, by the levels that they have in common: who is to be told of a topic is found without looking at all. */
export class FilterTree<Value> {
  readonly #root = new Level<Value>()

  add(filter: string, value: Value): void {
    let level = this.#root
    for (const name of filter.split('/')) level = level.enter(name)
    level.values.add(value)
  }

  remove(filter: string, value: Value): void {
    const path = [this.#root]
    const names = filter.split('/')
    for (const name of names) {
      const next = path.at(-1)?.below.get(name)
      if (!next) return
      path.push(next)
    }
    path.at(-1)?.values.delete(value)
    for (let depth = names.length; depth > 0 && path[depth]?.isEmpty; depth--) {
      path[depth - 1]?.below.delete(names[depth - 1] as string)
    }
  }

  /** What was added under filters that match the topic; the same value once for each filter (MQTT-4.7). */
  match(topic: string): Value[] {
    const found: Value[] = []
    collect(this.#root, topic.split('/'), 0, found)
    return found
  }
}

class Level<Value> {
  readonly values = new Set<Value>()
  readonly below = new Map<string, Level<Value>>()

  enter(name: string): Level<Value> {
    const level = this.below.get(name) ?? new Level<Value>()
    this.below.set(name, level)
    return level
  }

  get isEmpty(): boolean {
    return this.values.size === 0 && this.below.size === 0
  }
}

function collect<Value>(level: Level<Value>, names: readonly string[], place: number, found: Value[]): void {
  const name = names[place]
  const mayBeWild = place > 0 || !name?.startsWith('$')
  // The level above is matched, too (MQTT-4.7.1-2).
  if (mayBeWild) found.push(...(level.below.get('#')?.values ?? []))
  if (name === undefined) {
    found.push(...level.values)
    return
  }
  const same = level.below.get(name)
  if (same) collect(same, names, place + 1, found)
  const any = mayBeWild && level.below.get('+')
  if (any) collect(any, names, place + 1, found)
}
