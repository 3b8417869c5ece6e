import type { Comparison } from './comparison.ts'

/**
 * The product in turn with another build of it, in the place of its peers: what a change is worth. No floor is missed by it.
 *
 * @param command as in `Session`, of the other build
 * @returns undefined: the product is no side of the comparison
 */
export function besideBefore(
  { sides, bars, ...comparison }: Comparison,
  command: string,
): Comparison | undefined {
  const { product } = sides
  if (!product) return undefined
  const bound = bars[0]?.bound ?? 'at least'
  return {
    ...comparison,
    sides: { product, before: session => product({ ...session, command }) },
    bars: [
      {
        measure: 'product / before',
        judged: figures => (figures.product ?? Number.NaN) / (figures.before ?? Number.NaN),
        bound,
        floor: bound === 'at least' ? 0 : Number.POSITIVE_INFINITY,
        aim: 1,
      },
    ],
  }
}
