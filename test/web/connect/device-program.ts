import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Endpoint, Snippet } from '../../../web/src/thing/connect/snippet.ts'
import { curl } from '../../../web/src/thing/connect/snippets/curl.ts'
import { micropython } from '../../../web/src/thing/connect/snippets/micropython.ts'
import { mosquitto } from '../../../web/src/thing/connect/snippets/mosquitto.ts'
import { node } from '../../../web/src/thing/connect/snippets/node.ts'
import { python } from '../../../web/src/thing/connect/snippets/python.ts'
import { type Installed, Program } from '../../clients/program.ts'
import { newerPaho } from '../../helpers/newer-paho.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const board = fileURLToPath(new URL('micropython.py', import.meta.url))
/** Debian's own interpreter, the only one that finds Debian's modules. */
const python3 = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }

/** One way to run a program of the page. */
export interface Run {
  /** Where the programs of one snippet are told apart. */
  readonly name: string
  readonly by: Installed
  readonly file: string
  /** The arguments in front of the file. */
  readonly before?: () => Promise<readonly string[]> | readonly string[]
}

/** Python with Debian's paho, which is 1.6 in Debian 12. */
export const debianPython: Run = { name: 'Python of Debian', by: python3, file: 'write.py' }

/** How a person runs each program that can run on this machine; the first way is what the page recommends. */
const runs: ReadonlyMap<Snippet, readonly [Run, ...Run[]]> = new Map([
  [curl, [{ name: 'curl', by: { command: 'sh', debianPackage: 'curl' }, file: 'write.sh' }]],
  [
    mosquitto,
    [
      {
        name: 'mosquitto_pub',
        by: { command: 'sh', debianPackage: 'mosquitto-clients' },
        file: 'write.sh',
      },
    ],
  ],
  [
    python,
    [
      {
        name: 'Python',
        by: { command: 'env', debianPackage: 'coreutils' },
        file: 'write.py',
        before: async () => [`PYTHONPATH=${await newerPaho()}`, python3.command],
      },
      debianPython,
    ],
  ],
  [node, [{ name: 'Node', by: { command: process.execPath, debianPackage: 'nodejs' }, file: 'write.mjs' }]],
  [micropython, [{ name: 'MicroPython', by: python3, file: 'main.py', before: () => [board] }]],
])

/** Every way to run a program; none if it cannot run on this machine. */
export function runsOf(snippet: Snippet): readonly Run[] {
  return runs.get(snippet) ?? []
}

interface Changes {
  /** What the program says; default: what the page shows. */
  readonly text?: string
  /** Default: as the page recommends. */
  readonly run?: Run | undefined
}

/** Starts a program of the page. */
export async function startProgram(
  snippet: Snippet,
  endpoint: Endpoint,
  { text = snippet.text(endpoint), run = runsOf(snippet)[0] }: Changes = {},
): Promise<Program> {
  if (!run) throw new Error(`${snippet.name} cannot run here`)
  const directory = await temporaryDirectory(onTestFinished)
  const file = join(directory, run.file)
  await writeFile(file, text)
  await symlink(nodeModules, join(directory, 'node_modules'))
  return new Program(run.by, [...((await run.before?.()) ?? []), file])
}
