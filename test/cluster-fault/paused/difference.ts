/** How much of a list is shown. */
const most = 12

/** The end of a list, in words. */
export function shown(values: readonly unknown[]): string {
  return `${values.length > most ? '… ' : ''}${values.slice(-most).join(' ')}`
}

/**
 * Where two lists that should be the same begin to differ, in words.
 *
 * @param expected its name, and what is in it
 */
export function difference(
  expected: readonly [name: string, values: readonly string[]],
  got: readonly [name: string, values: readonly string[]],
): string[] {
  const [[name, values], [other, others]] = [expected, got]
  const length = Math.max(values.length, others.length)
  const place = Array.from({ length }, (_, index) => index).find(index => values[index] !== others[index])
  if (place === undefined) return []
  const from = Math.max(0, place - 2)
  const part = (list: readonly string[]) => list.slice(from, from + most).join(' ') || 'nothing'
  const ends = values.at(-1) === others.at(-1) ? '' : `; the last are ${values.at(-1)} and ${others.at(-1)}`
  return [`behind ${from}: ${name} ${part(values)}, ${other} ${part(others)}${ends}`]
}
