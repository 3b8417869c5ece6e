/** The character before the decimals. */
export type Decimal = '.' | ','

const json = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const withComma = /^-?(0|[1-9]\d*)(,\d+)?([eE][+-]?\d+)?$/

/** Spelled by people, spreadsheets and sensors, and no JSON: `21,5`, `1,234.5`, `+3`, `.5`, `007`, `0x1F`, `−3`, `NaN`. */
const nearlyNumber =
  /^\s*[+\-−]?\s*(\d+([.,]\d*)?|[.,]\d+|\d{1,3}([,. '’\u00a0\u202f]\d{3})+([.,]\d*)?|0x[\da-f]+|nan|inf(inity)?)(e[+-]?\d+)?\s*$/i

/** The number that a text is, as JSON spells it or with a decimal comma; else undefined. */
export function plainNumber(text: string, decimal: Decimal = '.'): number | undefined {
  if (!(decimal === '.' ? json : withComma).test(text)) return undefined
  return Number(text.replace(',', '.'))
}

/** Whether a text that is no JSON number was probably meant as one. */
export function isNearlyNumber(text: string): boolean {
  return nearlyNumber.test(text)
}
