import { preload } from '../helpers/preload.ts'

/** What a broken server does with one live message in twenty, see broken-outbox.ts. */
export const defects = ['lost', 'doubled', 'out of order'] as const
export type Defect = (typeof defects)[number]

/** The environment of a server that is broken in this way. */
export function withDefect(defect: Defect): NodeJS.ProcessEnv {
  return {
    ...preload(new URL('broken-outbox.ts', import.meta.url)),
    SOAK_DEFECT: defect,
    SOAK_LIVE: new URL('../../dist/live/index.js', import.meta.url).href,
  }
}
