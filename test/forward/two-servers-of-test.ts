import { onTestFinished } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TwoServers } from './two-servers.ts'

/** With so many things; they end with the running test. */
export async function twoServersOfTest(things = 1): Promise<TwoServers> {
  const servers = await TwoServers.open(await temporaryDirectory(), things)
  onTestFinished(() => servers.end())
  return servers
}
