import type { Comparison, Session } from './comparison.ts'

/** Another build of the product. */
export interface Build {
  /** The directory of its tree, as it was given: two trees may end alike. */
  readonly name: string
  /** As in `Session`. */
  readonly command: string
}

/**
 * The product in turn with other builds of it, in the place of its peers: what a change is worth. No floor is missed by it.
 *
 * @returns undefined: the product is no side of the comparison
 */
export function besideBefore(
  { sides, bars, ...comparison }: Comparison,
  before: readonly Build[],
): Comparison | undefined {
  const { product } = sides
  if (!product) return undefined
  const bound = bars[0]?.bound ?? 'at least'
  const builds = before.map(
    ({ name, command }) => [name, (session: Session) => product({ ...session, command })] as const,
  )
  return {
    ...comparison,
    sides: { product, ...Object.fromEntries(builds) },
    bars: before.map(({ name }) => ({
      measure: `product / ${name}`,
      judged: figures => (figures.product ?? Number.NaN) / (figures[name] ?? Number.NaN),
      bound,
      floor: bound === 'at least' ? 0 : Number.POSITIVE_INFINITY,
      aim: 1,
    })),
  }
}
