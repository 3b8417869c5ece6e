import type { MagicRules } from '../core/ports.ts'
import { geo } from './geo.ts'
import type { MagicResource } from './magic-resource.ts'
import { settings } from './settings.ts'

const resources: readonly MagicResource[] = [geo, settings]

/** The magic resources that the service knows. */
export const magicRules: MagicRules = {
  check(record) {
    const resource = resources.find(({ matches }) => matches(record.key))
    if (resource) return resource.check(record)
    const message = 'key must be $geo, $settings or $settings.<path> when it starts with "$"'
    return { field: 'key', reason: 'unknown_magic_resource', message }
  },
}
