import type { Peer } from './peer.ts'
import { startChild } from './program.ts'

export async function startBareFastify(): Promise<Peer> {
  const program = await startChild('bare-fastify-child.ts')
  const port = Number(await program.firstLine())
  return { port, httpPort: port, processes: { fastify: program.processId }, stop: () => program.stop() }
}
