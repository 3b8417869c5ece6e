/**
 * A pure function of a text that remembers its latest results.
 *
 * @param capacity how many texts are remembered; beyond it all are forgotten at once
 */
export function remembered<Result>(
  compute: (text: string) => Result,
  capacity: number,
): (text: string) => Result {
  const results = new Map<string, Result>()
  return text => {
    const known = results.get(text)
    if (known !== undefined) return known
    if (results.size >= capacity) results.clear()
    const result = compute(text)
    results.set(text, result)
    return result
  }
}
