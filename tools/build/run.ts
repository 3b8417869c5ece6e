import { parseArgs } from 'node:util'
import { makeDist } from './dist.ts'

/** `npm run build` makes all of `dist`; with `--when-stale` nothing whose sources are as they were. */

const { values } = parseArgs({ options: { 'when-stale': { type: 'boolean' } } })
await makeDist({ again: !values['when-stale'] })
