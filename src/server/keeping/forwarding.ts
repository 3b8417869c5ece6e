import { join, resolve } from 'node:path'
import { Redactor } from '../../core/refusals/redactor.ts'
import type { ForwardLog } from '../../forward/forward-notices.ts'
import type { ForwardOptions } from '../../forward/forwarder.ts'
import { readTarget } from '../../forward/target.ts'
import { ThingMap } from '../../forward/thing-map.ts'
import type { ServerOptions } from '../options/options.ts'
import { isOwnAddress } from './own-address.ts'

/**
 * What the options say of forwarding; undefined: nothing is forwarded.
 *
 * @throws Error with one line for the operator: an option is missing or not for this store, or a file cannot be used
 */
export async function forwardingOf(
  options: ServerOptions,
  log: ForwardLog,
): Promise<ForwardOptions | undefined> {
  const { forward, forwardThings, forwardCa, forwardBytesPerSecond, forwardLogLimit } = options
  if (forward === undefined) return undefined
  if (options.redisUrl !== undefined)
    throw new Error('forward needs the embedded store: it cannot be set together with redisUrl')
  if (forwardThings === undefined)
    throw new Error(
      'forward is set but not forwardThings: give a file with the token of each thing at the central server (docs/use/forward.md)',
    )
  const target = readTarget(forward, forwardCa, new Redactor(options.adminKey))
  if (await isOwnAddress(target.url, options))
    throw new Error(`${target.url} is the address of this server itself: forward must be that of another one`)
  return {
    target,
    map: new ThingMap(forwardThings, join(resolve(options.dataDir), 'forward-tokens.json')),
    bytesPerSecond: forwardBytesPerSecond,
    logLimit: forwardLogLimit,
    log,
  }
}
