import type { MagicCase } from '../case.ts'
import { flags } from './flags.ts'
import { geo } from './geo.ts'
import { paths } from './paths.ts'
import { removal } from './removal.ts'
import { settings } from './settings.ts'
import { settingsSize } from './settings-size.ts'

/** Contract §5, from the write to the state and what is told of it. What is accepted at all: test/doors/cases/magic.ts. */
export const cases: readonly MagicCase[] = [
  ...geo,
  ...settings,
  ...settingsSize,
  ...paths,
  ...flags,
  ...removal,
]
