import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

export interface Served extends ServerProcess {
  readonly dataDir: string
  /** Ends it, and removes what it has stored. */
  readonly end: () => Promise<void>
}

/** A server for several tests; whoever starts it ends it. @param args of the command line */
export async function serve(...args: readonly string[]): Promise<Served> {
  let remove = async () => {}
  const dataDir = await temporaryDirectory(end => {
    remove = end
  })
  const server = await startServer({ dataDir, args })
  const end = async () => {
    await server.kill()
    await remove()
  }
  return { ...server, dataDir, end }
}
