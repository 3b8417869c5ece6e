import { catalogue, type Reason } from '../../errors.ts'

/** What to change in a device whose write was refused, where the text of the reason does not say it. */
const advices: Partial<Record<Reason, string>> = {
  invalid_utf8: 'send text as UTF-8, binary values as base64',
  invalid_json: 'check whether a small buffer of the device cuts the body off; else check quotes and commas',
  invalid_body: 'send an object: {"values":[{"key":"temperature","value":21.5}]}',
  invalid_values: 'send {"values":[{"key":"temperature","value":21.5}]}, with at least one record',
  too_many_records: 'send fewer records in a write, and more writes',
  not_a_write_topic: 'publish to things/<token>/write; what goes to other topics is not stored',
  connect_refused: 'connect as the text says; docs/use/devices.md has a CONNECT that is taken',
  connection_closed: 'repair what the text names: what the device sends behind it is not stored',
  client_id_shared: 'give each device a client id of its own, such as one with its serial number',
  invalid_record: 'send each item of values as an object {"key","value"}',
  invalid_key: 'use only letters, digits, ".", "-" and "_": no spaces, slashes or umlauts',
  unknown_magic_resource: 'remove the $, or use $geo, $settings or $settings.<path>',
  invalid_value: 'leave out a failed reading: NaN and null are not values',
  number_out_of_range: 'leave out the reading of a failed sensor',
  value_too_large: 'send at most 64 KiB: for an image, send its address',
  invalid_geo: 'send "geo":{"lat":60.08,"long":23.54} in degrees, and no geo without a fix',
  invalid_datetime: 'send YYYYMMDDHHmmss in UTC, or RFC 3339; leave datetime out if the device has no clock',
  datetime_out_of_range: 'set the clock of the device (utils/date, NTP), or leave datetime out',
  invalid_position: 'send {"type":"Point","coordinates":[long,lat]} as the value of $geo, or null with geo',
  too_many_resources: 'put changing parts of a key, such as a number or a time, into the value',
  body_too_large: 'send fewer records in a write, or raise bodyLimit',
  write_rate_exceeded: 'write less often, with several records in a write',
  record_rate_exceeded: 'write fewer records',
}

/** What to do about a refused write. */
export function adviceFor(reason: string): string {
  if (!Object.hasOwn(catalogue, reason)) return 'see docs/reference/errors.md'
  return advices[reason as Reason] ?? `${catalogue[reason as Reason].text} (docs/reference/errors.md)`
}
