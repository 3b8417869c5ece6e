/** What stands where a text stops being JSON. */
interface Stranger {
  readonly found: string
  /** What must stand there, in words. */
  readonly wanted: string
  /** The text in front of it. */
  readonly before: string
}

/** What programs write in place of JSON, and what to write. The first row that fits counts. */
const hints: readonly (readonly [fits: (stranger: Stranger) => boolean, hint: string])[] = [
  [({ found }) => found === '\0', 'send no zero byte, such as the one that ends a string in C'],
  [({ found }) => /^['‘’“”„«»`]$/u.test(found), 'JSON has straight double quotes'],
  [({ found }) => /^[/#]$/.test(found), 'JSON has no comments'],
  [({ found, before }) => /^[\]}]$/.test(found) && /,\s*$/.test(before), 'take the comma before it away'],
  [
    ({ found, wanted, before }) => /^\d/.test(found) && wanted !== 'the end' && /\d,$/.test(before),
    'a decimal number has a point, not a comma',
  ],
  [({ wanted }) => wanted === 'the end', 'one body is one JSON document'],
  [
    ({ found }) => /^[+-]?(?:nan|inf(?:inity)?|ovf)\b/i.test(found),
    'leave the record out, or send null with geo',
  ],
  [({ found }) => /^(?:true|false)$/i.test(found), 'write true and false in small letters'],
  [({ found }) => /^(?:none|null|nil|undefined|nullptr)$/i.test(found), 'write null'],
  [({ found }) => /^[+-]?0x/i.test(found), 'write the number in decimal'],
  [({ found }) => /^\+/.test(found), 'a number has no plus sign'],
  [({ found }) => /^-?\./.test(found), 'a number begins with a digit, such as 0.5'],
  [({ found }) => /^-?0\d/.test(found), 'a number does not begin with a zero'],
  [({ found }) => /^-?\d+\.(?:\D|$)/.test(found), 'a digit must follow the point of a number'],
  [({ found, wanted }) => /^[\w.+-]/.test(found) && /value|name/.test(wanted), 'put a text in double quotes'],
]

/** What to do about it; undefined if its place says all. */
export function hintOf(stranger: Stranger): string | undefined {
  return hints.find(([fits]) => fits(stranger))?.[1]
}
