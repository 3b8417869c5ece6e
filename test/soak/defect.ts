import { fileURLToPath } from 'node:url'
import type { ServerSetup } from '../helpers/server-process.ts'

/** What a broken server does with one live message in twenty, see broken-server.ts. */
export const defects = ['lost', 'doubled', 'out of order'] as const
export type Defect = (typeof defects)[number]

/** How a server is started that is broken in this way. */
export function withDefect(defect: Defect): ServerSetup {
  return {
    program: fileURLToPath(new URL('broken-server.ts', import.meta.url)),
    environment: { SOAK_DEFECT: defect },
  }
}
