import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type NodesSetup, type RunningNodes, startNode, startNodes } from './cluster.ts'
import { type ConnectOptions, connectMqtt, type MqttAddress, type MqttClient } from './mqtt-client.ts'
import { type ServerProcess, type ServerSetup, startServer } from './server-process.ts'
import { openPath, type TcpPath } from './tcp-path.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** As `startServer`, and killed with the running test. Default: in a data directory that goes with it. */
export async function serverOfTest(setup: ServerSetup = {}): Promise<ServerProcess> {
  const dataDir = setup.dataDir ?? (await temporaryDirectory())
  const server = await startServer({ ...setup, dataDir })
  onTestFinished(async () => void (await server.kill()))
  return server
}

/** For the tests of a file: a server from before the first until behind the last. @returns how they get at it */
export function serverOfTests(setup: ServerSetup = {}): () => ServerProcess {
  let server: ServerProcess | undefined
  beforeAll(async () => {
    let removeData = async () => {}
    const dataDir = await temporaryDirectory(remove => {
      removeData = remove
    })
    server = await startServer({ dataDir, ...setup })
    return async () => {
      await server?.stop()
      await removeData()
    }
  })
  return () => {
    if (!server) throw new Error('no test is running')
    return server
  }
}

/** As `connectMqtt`; the connection ends with the running test. */
export async function mqttOfTest(options: MqttAddress & ConnectOptions): Promise<MqttClient> {
  const client = await connectMqtt(options)
  onTestFinished(() => client.destroy())
  return client
}

/** As `startNode`, and killed with the running test. */
export async function nodeOfTest(...setup: Parameters<typeof startNode>): Promise<ServerProcess> {
  const node = await startNode(...setup)
  onTestFinished(async () => void (await node.kill()))
  return node
}

/** As `startNodes`; they end with the running test. */
export async function nodesOfTest(count: number, setup: NodesSetup = {}): Promise<RunningNodes> {
  const nodes = await startNodes(count, setup)
  onTestFinished(() => nodes.end())
  return nodes
}

/** As `startNodes`, for the tests of a file: from before the first until behind the last. */
export function nodesOfTests(count: number, setup: NodesSetup = {}): RunningNodes {
  let running: RunningNodes | undefined
  beforeAll(async () => {
    running = await startNodes(count, setup)
  })
  afterAll(() => running?.end())
  const started = () => {
    if (!running) throw new Error('no test is running')
    return running
  }
  return {
    get redis() {
      return started().redis
    },
    get adminKey() {
      return started().adminKey
    },
    get nodes() {
      return started().nodes
    },
    node: index => started().node(index),
    add: () => started().add(),
    end: () => started().end(),
  }
}

/** As `openPath`, and closed with the running test. */
export async function pathOfTest(...setup: Parameters<typeof openPath>): Promise<TcpPath> {
  const path = await openPath(...setup)
  onTestFinished(() => path.close())
  return path
}
