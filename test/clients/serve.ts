import { afterAll, beforeAll } from 'vitest'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** Runs one server, as users run it, for all the tests of a file. @returns how they get at it */
export function serve(): () => ServerProcess {
  let server: ServerProcess | undefined
  let removeData = async () => {}
  beforeAll(async () => {
    const dataDir = await temporaryDirectory(remove => {
      removeData = remove
    })
    server = await startServer({ dataDir })
  })
  afterAll(async () => {
    await server?.stop()
    await removeData()
  })
  return () => {
    if (!server) throw new Error('the server has not started')
    return server
  }
}
