import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Child } from '../../test/helpers/child.ts'

/** The target of a load: the product, or what it is held against. Everything is on this machine, on a free port. */
export interface Peer {
  /** Of MQTT, or of HTTP where the peer speaks nothing else. */
  readonly port: number
  /** Absent where the peer speaks MQTT only. */
  readonly httpPort?: number
  /** Whose processor time is the peer's, with their children: process ids by name. */
  readonly processes: Readonly<Record<string, number>>
  /** Resolves when its processes are gone and what it kept is removed. */
  stop(): Promise<void>
}

export const host = '127.0.0.1'

/** A peer cannot be started since the machine lacks a program; the message names the package to install. */
export class ProgramMissing extends Error {}

interface ProgramSetup {
  readonly command: string
  readonly args: readonly string[]
  /** Of Debian, that has the command. */
  readonly aptPackage?: string
  /** As whom it runs. Default: as this process. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** Debian has mosquitto where only root looks for programs. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
/** Milliseconds. */
const startDeadline = 30_000

/** Starts a process that ends with this one. @throws ProgramMissing */
export async function startProgram({ command, args, aptPackage, user }: ProgramSetup): Promise<Child> {
  const child = new Child(command, args, { env, ...user })
  endWithUs(child.process)
  try {
    await once(child.process, 'spawn')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || aptPackage === undefined) throw error
    throw new ProgramMissing(`${command} is not installed: apt install ${aptPackage}`)
  }
  return child
}

/** A TypeScript file, with no flags for Node but what TypeScript needs. */
export function startScript({ pathname }: URL, args: readonly string[]): Promise<Child> {
  const loader = ['--import', import.meta.resolve('tsx')]
  return startProgram({ command: process.execPath, args: [...loader, pathname, ...args] })
}

/** The first line that a program writes. @throws Error with its output if it ends before, or takes too long */
export async function firstLineOf(program: Child): Promise<string> {
  const [, line = ''] = await program.until('stdout', /^(.*)\n/, startDeadline)
  return line
}

/** Kills a child when this process ends, however it does. */
export function endWithUs(child: ChildProcess): void {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => void process.off('exit', kill))
}

/** Of a process that has been started. */
export function idOf({ process: { pid } }: { readonly process: ChildProcess }): number {
  return pid ?? 0
}
