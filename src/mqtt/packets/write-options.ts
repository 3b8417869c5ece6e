import { isBinaryType } from '../../core/json/binary-type.ts'
import type { WriteOptions } from '../../core/parse.ts'
import { ThingwireError } from '../../errors.ts'
import type { Properties } from './packet.ts'

/**
 * The options of a write in the properties of its PUBLISH or will, as those of an HTTP query (contract §3). User Properties with other
 * names are ignored.
 *
 * @throws ThingwireError invalid_flag, invalid_write_id, unsupported_media_type
 */
export function writeOptionsIn({ contentType = '', userProperties = [] }: Properties): WriteOptions {
  if (isBinaryType(contentType)) throw new ThingwireError('unsupported_media_type')
  const valueIn = (name: string, reason: 'invalid_flag' | 'invalid_write_id') => {
    const [value, ...others] = userProperties.flatMap(([each, text]) => (each === name ? [text] : []))
    if (others.length > 0) throw new ThingwireError(reason, `the User Property ${name} must be there once`)
    return value
  }
  const flag = (name: 'store' | 'broadcast' | 'partial') => {
    const value = valueIn(name, 'invalid_flag')
    if (value !== undefined && value !== 'true' && value !== 'false')
      throw new ThingwireError('invalid_flag', `the User Property ${name} must be true or false`)
    return value === undefined ? undefined : value === 'true'
  }
  return {
    store: flag('store'),
    broadcast: flag('broadcast'),
    partial: flag('partial'),
    id: valueIn('id', 'invalid_write_id'),
  }
}
