import { readdir, readFile, readlink } from 'node:fs/promises'
import { eventually } from '../../helpers/waiting.ts'

/**
 * Processes as Linux tells of them. What a page has started is found by the variable of its environment and by its working
 * directory: a program that has gone into the background by itself is in no group and is nobody's child any more.
 */

/** The variable that every program of a page has, and its descendants. */
export const pageVariable = 'RUN_OF_PAGE'

/** Kills every process of a page, and resolves when none is left. @throws Error if one is still there after 10 s */
export async function endAll(run: string, directory: string): Promise<void> {
  let left: readonly number[] = []
  const areGone = async () => {
    left = await processesOf(run, directory)
    for (const pid of left) signal(pid, 'SIGKILL')
    return left.length === 0
  }
  if (await eventually(areGone, 10_000)) return
  throw new Error(`processes ${left.join(', ')} of ${directory} do not end`)
}

/** Sends SIGINT to what a shell waits for, as Ctrl-C does: the process group of its newest child. */
export async function interrupt(shell: number): Promise<void> {
  const stats = await Promise.all((await processIds()).map(statOf))
  const children = stats.filter(stat => stat?.parent === shell).sort((a, b) => b.started - a.started)
  const [newest] = children
  if (newest) signal(-newest.group, 'SIGINT')
}

async function processesOf(run: string, directory: string): Promise<readonly number[]> {
  const found = (await processIds()).map(async pid => {
    const [environment, workingDirectory, stat] = await Promise.all([
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
      statOf(pid),
    ])
    const isOfRun = environment.split('\0').includes(`${pageVariable}=${run}`)
    const isInside = workingDirectory === directory || workingDirectory.startsWith(`${directory}/`)
    return (isOfRun || isInside) && stat.state !== 'Z' ? [pid] : []
  })
  return (await Promise.all(found)).flat()
}

async function processIds(): Promise<readonly number[]> {
  return (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
}

async function statOf(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name, in parentheses, may hold anything.
  const [state = 'Z', parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state, parent: Number(parent), group: Number(group), started: Number(rest[16]) }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
