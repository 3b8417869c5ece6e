import type { Peer } from './peer.ts'
import { startChild } from './program.ts'

export async function startBareAedes(): Promise<Peer> {
  const program = await startChild('bare-aedes-child.ts')
  const port = Number(await program.firstLine())
  return { port, processes: { aedes: program.processId }, stop: () => program.stop() }
}
