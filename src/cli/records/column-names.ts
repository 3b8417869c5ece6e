/** What a column of a CSV file, or a field of a line of JSON, can be by its name. */
export type Meaning = 'time' | 'date' | 'lat' | 'long' | 'key' | 'value'

/** Words around a name that say of which clock, event or unit it is: `utc_time`, `Timestamp [ms]`, `gps_latitude`. */
const besideTime =
  'utc|gmt|iso|iso8601|rfc3339|unix|epoch|posix|ms|us|ns|sec|secs|seconds|millis|milliseconds|gps|gnss|device|server|event|measurement|measured|record|recorded|observation|observed|sample|sampled|logged|created|received'
const besidePosition =
  'gps|gnss|geo|location|loc|position|pos|coordinate|coordinates|deg|degree|degrees|decimal|wgs84'

const clockWords =
  'time|time ?stamp|ts|zeit|zeitstempel|zeitpunkt|uhrzeit|heure|horodatage|hora|marca de tiempo|tijd|tijdstip'
const dayWords = 'date|datum|fecha'
const joints = 'and|und|et|y|en|of'

/**
 * The names that are known, as patterns of their words: lower case, without accents, one space between two words. A pattern
 * that lets spaces be missing finds `datetime`, `DateTime`, `date_time` and `Date/Time` alike.
 */
const known: readonly (readonly [Meaning, RegExp])[] = [
  ['time', framed(besideTime, `(?:${dayWords}) ?(?:(?:${joints}) )?(?:${clockWords})`)],
  ['time', framed(besideTime, `(?:${clockWords}) ?(?:(?:${joints}) )?(?:${dayWords})`)],
  ['time', framed(besideTime, clockWords)],
  ['time', /^(?:unix|epoch|utc)(?: (?:s|ms|us|ns|seconds|millis|milliseconds))?$/],
  // What happened when: `created_at`, `MeasuredAt`, `publishedat`, `last_changed`.
  ['time', framed(besideTime, '.+ at|\\w+edat|last \\w+ed')],
  ['date', framed(besideTime, dayWords)],
  ['lat', framed(besidePosition, 'lat|latitude|breitengrad')],
  ['long', framed(besidePosition, 'long|lon|lng|longitude|langengrad|laengengrad')],
  ['key', /^(?:key|field|metric|variable|parameter|measurement|entity id)$/],
  ['value', /^(?:value|val|state|wert|valeur|valor|waarde)$/],
]

/** A name alone or with words of `beside` around it; the one-letter unit of `time_s` only as a word of its own. */
function framed(beside: string, name: string): RegExp {
  return new RegExp(`^(?:(?:${beside}) ?)*(?:${name})(?: ?(?:${beside})| s)*$`)
}

/** What a name says by itself, in any case and spelling; undefined: nothing that is known here. */
export function meaningOf(name: string): Meaning | undefined {
  const words = wordsOf(name).join(' ')
  return known.find(([, pattern]) => pattern.test(words))?.[0]
}

/** Whether two names differ in case and spelling alone. */
export function isSameName(one: string, other: string): boolean {
  return wordsOf(one).join('') === wordsOf(other).join('')
}

/** `createdAt`, `CREATED_AT` and `Created at:` are `created`, `at`. */
function wordsOf(name: string): string[] {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')
}

/** A key that can stand in the place of a name that is none: `Temperature (°C)` becomes `Temperature_C`. */
export function keyLike(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss')
  return plain.replace(/[^A-Za-z0-9.-]+/g, '_').replace(/^_+|_+$/g, '') || 'key'
}
