import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { serveAsHost } from '../helpers/serve-as-host.ts'

/** Lists what is applied, so that what is applied twice, out of turn or not at all is seen. */
const list: MagicResource = {
  key: '$list',
  check: ({ value }) => ({ value }),
  apply: (state, { value, datetime }) => ({
    value: [...((state?.value as readonly unknown[] | undefined) ?? []), value],
    datetime,
  }),
}

await serveAsHost(list)
