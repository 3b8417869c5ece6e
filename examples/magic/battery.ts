import type { MagicResource } from 'thingwire'

const lowPercent = 20

/** `$battery`: a thing writes the percent that are left; its state is `{"percent", "low"}`. */
export const battery: MagicResource = {
  key: '$battery',

  check({ value }) {
    if (typeof value === 'number' && value >= 0 && value <= 100) return { value }
    return { field: 'value', reason: 'invalid_magic_value', message: 'value must be from 0 to 100' }
  },

  apply(state, { value, datetime }) {
    if (state && datetime < state.datetime) return undefined
    const percent = value as number
    return { value: { percent, low: percent < lowPercent }, datetime }
  },
}
