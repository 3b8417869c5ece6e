import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/helpers/redis-server.ts'
import { host, type Peer } from './peer.ts'
import { Program } from './program.ts'

/** Nothing is stored, logged or dropped; 0 is no limit. */
const configuration = (port: number) => `listener ${port} ${host}
allow_anonymous true
persistence false
max_inflight_messages 0
max_queued_messages 0
log_type none
`

export async function startMosquitto(): Promise<Peer> {
  const directory = await mkdtemp(join(tmpdir(), 'thingwire-mosquitto-'))
  const path = join(directory, 'mosquitto.conf')
  const port = await freePort()
  await writeFile(path, configuration(port))
  try {
    const program = await Program.start({ command: 'mosquitto', args: ['-c', path], aptPackage: 'mosquitto' })
    await program.listening(port)
    return { port, processes: { mosquitto: program.processId }, stop: () => program.stop() }
  } finally {
    await rm(directory, { recursive: true })
  }
}
