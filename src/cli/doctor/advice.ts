import { catalogue, type Reason } from '../../errors.ts'

/** What to change in a device whose write was refused, where the text of the reason does not say it. */
const advices: Partial<Record<Reason, string>> = {
  invalid_utf8: 'send text as UTF-8, binary values as base64',
  invalid_json:
    'is the buffer of the device too small, so that the body is cut off? Else look at quotes and commas',
  invalid_body: 'send an object: {"values":[{"key":"temperature","value":21.5}]}',
  invalid_values: 'send {"values":[{"key":"temperature","value":21.5}]}, with one record at least',
  too_many_records: 'send fewer records in a write, and more writes',
  not_a_write_topic: 'publish to things/<token>/write',
  invalid_record: 'each item of values is an object {"key","value"}',
  invalid_key: 'use letters, digits, ".", "-" and "_" alone: no spaces, slashes or umlauts',
  unknown_magic_resource: 'take the $ away, or use $geo, $settings or $settings.<path>',
  invalid_value: 'leave out a reading that failed; NaN and null are no values',
  number_out_of_range: 'a sensor that failed? Leave such a reading out',
  value_too_large: 'send a value of at most 64 KiB, such as the address of the image',
  invalid_geo: 'send "geo":{"lat":60.08,"long":23.54} in degrees, and nothing without a fix',
  invalid_datetime: 'send YYYYMMDDHHmmss in UTC or RFC 3339; leave it out if the device has no clock',
  datetime_out_of_range: 'the clock of the device is wrong: set it (utils/date, NTP), or leave datetime out',
  invalid_position: 'the value of $geo is [long,lat], in this order, or null with geo',
  too_many_resources:
    'is there something in the key that changes, such as a number or a time? Put it into the value',
  body_too_large: 'send fewer records in a write, or raise bodyLimit',
  write_rate_exceeded: 'write less often, with several records in a write',
  record_rate_exceeded: 'write fewer records',
}

/** What to do about a refused write. */
export function adviceFor(reason: string): string {
  if (!Object.hasOwn(catalogue, reason)) return 'see docs/reference/errors.md'
  return advices[reason as Reason] ?? `${catalogue[reason as Reason].text} (docs/reference/errors.md)`
}
