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
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const board = fileURLToPath(new URL('micropython.py', import.meta.url))
/** Debian's own interpreter, the only one that finds Debian's modules. */
const python3 = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }

interface Run {
  readonly by: Installed
  readonly file: string
  readonly before?: readonly string[]
}

/** How a person runs each program that can run on this machine. */
const runs: ReadonlyMap<string, Run> = new Map([
  [curl.name, { by: { command: 'sh', debianPackage: 'curl' }, file: 'write.sh' }],
  [mosquitto.name, { by: { command: 'sh', debianPackage: 'mosquitto-clients' }, file: 'write.sh' }],
  [python.name, { by: python3, file: 'write.py' }],
  [node.name, { by: { command: process.execPath, debianPackage: 'nodejs' }, file: 'write.mjs' }],
  [micropython.name, { by: python3, file: 'main.py', before: [board] }],
])

export function canRun({ name }: Snippet): boolean {
  return runs.has(name)
}

/** Starts a program of the page. @param text what it says; default: what the page shows */
export async function startProgram(
  snippet: Snippet,
  endpoint: Endpoint,
  text = snippet.text(endpoint),
): Promise<Program> {
  const run = runs.get(snippet.name)
  if (!run) throw new Error(`${snippet.name} cannot run here`)
  const directory = await temporaryDirectory(onTestFinished)
  const file = join(directory, run.file)
  await writeFile(file, text)
  await symlink(nodeModules, join(directory, 'node_modules'))
  return new Program(run.by, [...(run.before ?? []), file])
}
