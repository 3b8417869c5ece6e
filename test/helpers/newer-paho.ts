import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './child.ts'

/** Debian 12 has paho 1.6, which does not give a program the reason code of an ack. Debian 13 has 2.1. */
const source = 'deb http://deb.debian.org/debian trixie main\n'
const path = fileURLToPath(new URL('../../node_modules/.cache/paho-mqtt-2.1', import.meta.url))

let fetching: Promise<string> | undefined

/** The directory of paho 2.1 for PYTHONPATH. apt fetches it once, beside the packages of npm; nothing of the system changes. */
export function newerPaho(): Promise<string> {
  fetching ??= fetchPaho()
  return fetching
}

async function fetchPaho(): Promise<string> {
  if (!existsSync(path)) {
    await mkdir(dirname(path), { recursive: true })
    const own = await mkdtemp(`${path}-`)
    try {
      await fetchInto(own)
      await rename(join(own, 'root'), path)
    } catch (error) {
      // Another process of the tests may have been first.
      if (!existsSync(path)) throw error
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  }
  return join(path, 'usr/lib/python3/dist-packages')
}

async function fetchInto(own: string): Promise<void> {
  for (const directory of ['lists/partial', 'cache/archives/partial', 'root'])
    await mkdir(join(own, directory), { recursive: true })
  await writeFile(join(own, 'source.list'), source)
  const options = {
    ...{ 'Dir::Etc::sourcelist': join(own, 'source.list'), 'Dir::Etc::sourceparts': '-' },
    ...{ 'Dir::State::lists': join(own, 'lists'), 'Dir::Cache': join(own, 'cache') },
    'APT::Sandbox::User': 'root',
  }
  const apt = ['apt-get', '-qq', ...Object.entries(options).map(([name, value]) => `-o=${name}=${value}`)]
  const commands = [
    `${apt.join(' ')} update`,
    `${apt.join(' ')} download python3-paho-mqtt`,
    'dpkg -x python3-paho-mqtt_*.deb root',
  ]
  const { code, output } = await new Child('sh', ['-ec', commands.join('\n')], { cwd: own }).exited
  if (code !== 0) throw new Error(`apt could not fetch python3-paho-mqtt of Debian 13: ${output}`)
}
