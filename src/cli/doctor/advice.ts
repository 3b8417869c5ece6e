import { catalogue, type Reason } from '../../errors.ts'

/** What to change in a device after a refused write. A reason is absent if its text in the catalogue is enough. */
const advices: Partial<Record<Reason, string>> = {
  invalid_utf8: 'send text as UTF-8, binary values as base64',
  invalid_body: 'send an object: {"values":[{"key":"temperature","value":21.5}]}',
  invalid_values: 'send {"values":[{"key":"temperature","value":21.5}]}, with at least one record',
  too_many_records: 'send fewer records in a write, and more writes',
  not_a_write_topic:
    'publish as the text says; on other topics only what the operator has granted to the thing',
  subscription_refused: 'subscribe as the text says; to other topics only if the operator has granted them',
  connect_refused: 'connect as the text says; docs/use/devices.md has a CONNECT that is accepted',
  connection_closed: 'fix what the text names: nothing that the device sends after it is stored',
  client_id_shared: 'give each device a client id of its own, such as one with its serial number',
  invalid_record: 'send each item of values as an object {"key","value"}',
  invalid_key: 'use only letters, digits, ".", "-" and "_": no spaces, slashes or umlauts',
  unknown_magic_resource: 'remove the $, or use $geo, $settings, $settings.<path> or $meta',
  invalid_value: 'leave out a failed reading: NaN and null are not values',
  number_out_of_range: 'leave out the reading of a failed sensor',
  value_too_large: 'send at most 64 KiB: for an image, send its address',
  invalid_geo: 'send "geo":{"lat":60.08,"long":23.54} in degrees, and no geo without a fix',
  invalid_datetime: 'send YYYYMMDDHHmmss in UTC, or RFC 3339; leave datetime out if the device has no clock',
  datetime_out_of_range: 'set the clock of the device (utils/date, NTP), or leave datetime out',
  invalid_position: 'send {"type":"Point","coordinates":[long,lat]} as the value of $geo, or null with geo',
  invalid_meta: 'send {"temperature":{"unit":"°C"}}, with the members of docs/contract.md 5.3',
  too_many_resources: 'put changing parts of a key, such as a number or a time, into the value',
  body_too_large: 'send fewer records in a write, or raise bodyLimit',
  write_rate_exceeded: 'write less often, with several records in a write',
  record_rate_exceeded: 'write fewer records',
}

interface Refusal {
  readonly reason: string
  readonly message: string
  /** The beginning of the body, which need not be JSON. */
  readonly excerpt: string
}

export function adviceFor({ reason, message, excerpt }: Refusal): string {
  if (!Object.hasOwn(catalogue, reason)) return 'see docs/reference/errors.md'
  if (reason === 'invalid_json') return jsonAdvice(message, excerpt)
  if (reason === 'subscription_refused' && message.includes('subscriptionsPerConnection'))
    return 'raise the option subscriptionsPerConnection, or subscribe with wildcards to more topics at once'
  return advices[reason as Reason] ?? `${catalogue[reason as Reason].text} (docs/reference/errors.md)`
}

/** Words that programs print for a missing value. `capitalised` matches true, false and null in spellings that are not JSON. */
const noValue = /(?<!\w)(?:[+-]?(?:[Nn]a[Nn]|NAN|[Ii]nf(?:inity)?|INF)|None|undefined)(?!\w)/
const capitalised = /(?<!\w)(?:True|TRUE|False|FALSE|NULL|Null)(?!\w)/
const string = /"(?:[^"\\]|\\.)*"/g
/** Maximum length of an excerpt, characters. If an excerpt has this length, the end of the body is unknown. */
const excerptLength = 200

function jsonAdvice(message: string, excerpt: string): string {
  // The message is searched as well, since it may quote a faulty word from the end of a long body, which the excerpt lacks.
  const text = `${excerpt.replace(string, '""')} ${message.replace(string, '""')}`
  const [missing] = noValue.exec(text) ?? []
  if (missing !== undefined) return `leave out a failed reading: ${missing} is not JSON`
  const [word] = capitalised.exec(text) ?? []
  if (word !== undefined) return `${word} is not JSON: write it in lower case`
  if (excerpt === '') return 'the body is empty: does the device send one, with its length?'
  if (excerpt.length >= excerptLength) {
    return 'check whether a small buffer of the device cuts the body off; else check quotes, commas and numbers'
  }
  if (endsTooEarly(excerpt)) {
    return 'the body ends too early: is a buffer of the device, or the length that it announces, too small?'
  }
  return 'check quotes, commas and numbers of the body'
}

/** Whether a text is the beginning of valid JSON, according to the error message of V8. */
function endsTooEarly(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    const { message } = error as Error
    const [, position] = / at position (\d+)/.exec(message) ?? []
    return /unexpected end|unterminated/i.test(message) || Number(position) === text.length
  }
}
