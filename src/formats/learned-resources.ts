import type { Fact, ResourceDescription } from './format.ts'

/** Maximum number of resources of one device that are described: a device has some dozens. */
export const mostResources = 1_000

type Resources = ReadonlyMap<string, ResourceDescription>

const none: Resources = new Map()

/** Descriptions that the readings of devices imply, such as W for `ENERGY.Power`. One fact for each device has all of them. */
export class LearnedResources {
  readonly #devices = new Map<string, Resources>()

  of(device: string): Resources | undefined {
    return this.#devices.get(device)
  }

  /**
   * The fact of a device for the readings of a message.
   *
   * @param describe the description of a reading; undefined if nothing is certain
   * @returns undefined if the fact that is known says the same
   */
  factOf(
    device: string,
    readings: readonly { readonly key: string; readonly value: unknown }[],
    describe: (key: string) => ResourceDescription | undefined,
  ): Fact | undefined {
    const known = this.#devices.get(device) ?? none
    const changed = new Map<string, ResourceDescription>()
    for (const { key, value } of readings.slice(0, mostResources)) {
      const description = isNumeric(value) ? describe(key) : undefined
      const hasRoom = known.has(key) || known.size + changed.size < mostResources
      if (description && hasRoom && description.unit !== known.get(key)?.unit) changed.set(key, description)
    }
    if (changed.size === 0) return undefined
    return { device, resources: Object.fromEntries([...known, ...changed]) }
  }

  learn(device: string, fact: Fact | null): void {
    if (fact) this.#devices.set(device, new Map(Object.entries(fact.resources as object)))
    else this.#devices.delete(device)
  }
}

/** Whether a unit can belong to the value: a number, or numbers such as those of three phases. */
function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || (Array.isArray(value) && value.every(item => typeof item === 'number'))
}
