import { beforeAll, onTestFinished } from 'vitest'
import { type NodesSetup, type RunningNodes, startNode, startNodes } from './cluster.ts'
import { type ConnectOptions, connectMqtt, type MqttAddress, type MqttClient } from './mqtt-client.ts'
import { type ServerProcess, type ServerSetup, startServer } from './server-process.ts'
import { openPath, type TcpPath } from './tcp-path.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** What is started, ended with the running test. */
export async function ofTest<T>(starting: Promise<T>, end: (started: T) => unknown): Promise<T> {
  const started = await starting
  onTestFinished(async () => void (await end(started)))
  return started
}

/** As `startServer`, and killed with the running test. Default: in a data directory that goes with it. */
export async function serverOfTest(setup: ServerSetup = {}): Promise<ServerProcess> {
  const dataDir = setup.dataDir ?? (await temporaryDirectory())
  return await ofTest(startServer({ ...setup, dataDir }), server => server.kill())
}

/**
 * What `start` gives, for the tests of a file: from before the first until behind the last.
 *
 * @returns what has all members of it, as soon as a test is running
 */
export function ofTests<T extends object>(start: () => Promise<T>, end: (started: T) => Promise<unknown>): T {
  let started: T | undefined
  beforeAll(async () => {
    const begun = await start()
    started = begun
    return async () => void (await end(begun))
  })
  return new Proxy({} as T, {
    get: (_, name) => {
      if (!started) throw new Error('no test is running')
      const member: unknown = Reflect.get(started, name)
      return typeof member === 'function' ? member.bind(started) : member
    },
  })
}

/** For the tests of a file: a server from before the first until behind the last. @returns how they get at it */
export function serverOfTests(setup: ServerSetup = {}): () => ServerProcess {
  const remove: (() => Promise<void>)[] = []
  const server = ofTests(
    async () => {
      const dataDir = await temporaryDirectory(task => remove.push(task))
      return await startServer({ dataDir, ...setup })
    },
    async started => {
      await started.stop()
      for (const task of remove) await task()
    },
  )
  return () => server
}

/** As `connectMqtt`; the connection ends with the running test. */
export function mqttOfTest(options: MqttAddress & ConnectOptions): Promise<MqttClient> {
  return ofTest(connectMqtt(options), client => client.destroy())
}

/** As `startNode`, and killed with the running test. */
export function nodeOfTest(...setup: Parameters<typeof startNode>): Promise<ServerProcess> {
  return ofTest(startNode(...setup), node => node.kill())
}

/** As `startNodes`; they end with the running test. */
export function nodesOfTest(count: number, setup: NodesSetup = {}): Promise<RunningNodes> {
  return ofTest(startNodes(count, setup), nodes => nodes.end())
}

/** As `startNodes`, for the tests of a file: from before the first until behind the last. */
export function nodesOfTests(count: number, setup: NodesSetup = {}): RunningNodes {
  return ofTests(
    () => startNodes(count, setup),
    nodes => nodes.end(),
  )
}

/** As `openPath`, and closed with the running test. */
export function pathOfTest(...setup: Parameters<typeof openPath>): Promise<TcpPath> {
  return ofTest(openPath(...setup), path => path.close())
}
