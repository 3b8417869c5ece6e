/** Significant digits of a number that does not fit as it is. */
const shownDigits = 7
const longestNumber = 12

/** A value on one line: numbers cut to a readable length, text as it is, the rest as JSON. */
export function formatValue(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As it is if it is short; else with 7 significant digits. */
export function formatNumber(value: number): string {
  const text = String(value)
  return text.length <= longestNumber ? text : String(Number(value.toPrecision(shownDigits)))
}
