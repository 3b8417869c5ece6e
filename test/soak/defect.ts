/** What a broken server does with one live message in twenty, see broken-outbox.ts. */
export const defects = ['lost', 'doubled', 'out of order'] as const
export type Defect = (typeof defects)[number]

const preload = [import.meta.resolve('tsx'), new URL('broken-outbox.ts', import.meta.url).href]

/** The environment of a server that is broken in this way. */
export function withDefect(defect: Defect): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: preload.map(url => `--import=${url}`).join(' '), SOAK_DEFECT: defect }
}
