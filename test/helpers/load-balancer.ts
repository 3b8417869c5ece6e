import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './redis-server.ts'
import type { ServerProcess } from './server-process.ts'
import { eventually } from './waiting.ts'

export interface LoadBalancer {
  readonly url: string
  readonly mqttUrl: string
  readonly webSocketUrl: string
  /** How many of the nodes it gives clients. */
  ready(): Promise<number>
  end(): Promise<void>
}

/**
 * Starts HAProxy with config/haproxy.cfg in front of nodes that trust 127.0.0.1, and waits until it gives clients to all of
 * them. Whoever starts it ends it.
 *
 * @throws Error how to install it where there is none
 */
export async function startLoadBalancer(nodes: readonly ServerProcess[]): Promise<LoadBalancer> {
  const [httpPort, mqttPort, statisticsPort] = [await freePort(), await freePort(), await freePort()]
  const directory = await mkdtemp(join(tmpdir(), 'thingwire-haproxy-'))
  const file = join(directory, 'haproxy.cfg')
  await writeFile(file, await configuration(nodes, { httpPort, mqttPort, statisticsPort }))
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const failed = once(child, 'error').then(([error]) => {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw isMissing ? new Error('haproxy is not installed: apt install haproxy') : error
  })
  const url = `http://127.0.0.1:${httpPort}`
  const balancer = {
    url,
    mqttUrl: `mqtt://127.0.0.1:${mqttPort}`,
    webSocketUrl: `ws://127.0.0.1:${httpPort}/mqtt`,
    ready: () => readyServers(`http://127.0.0.1:${statisticsPort}/;csv`),
    end: async () => {
      const exited = once(child, 'exit')
      if (child.kill('SIGKILL')) await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
  // There is no event for it.
  const areReady = async () => (await Promise.race([balancer.ready(), failed])) === nodes.length
  if (!(await eventually(areReady))) throw new Error('the load balancer does not find the nodes ready')
  return balancer
}

interface Ports {
  readonly httpPort: number
  readonly mqttPort: number
  readonly statisticsPort: number
}

/** The one that is shipped, with the places of these nodes, and none of Docker's. */
async function configuration(nodes: readonly ServerProcess[], ports: Ports): Promise<string> {
  const shipped = await readFile(new URL('../../config/haproxy.cfg', import.meta.url), 'utf8')
  let text = shipped
    .replace('bind :8080', `bind 127.0.0.1:${ports.httpPort}`)
    .replace('bind :1883', `bind 127.0.0.1:${ports.mqttPort}`)
    .replace(/^resolvers docker$(?:\n.+)*$/m, '')
    .replaceAll(' resolvers docker', '')
  for (const [index, { url, mqttUrl }] of nodes.entries()) {
    const [http, mqtt] = [new URL(url), new URL(mqttUrl)]
    text = text
      .replace(`node${index + 1}:8080`, http.host)
      .replace(`node${index + 1}:1883`, `${mqtt.host} port ${http.port}`)
  }
  return `${text}
frontend statistics
    mode http
    timeout client 5s
    bind 127.0.0.1:${ports.statisticsPort}
    stats enable
    stats uri /
`
}

/** How many servers of the MQTT backend are up: of the HTTP backend they are looked at alike. 0 before it answers. */
async function readyServers(url: string): Promise<number> {
  const text = await fetch(url).then(
    response => response.text(),
    () => '',
  )
  const isUp = (backend: string, server: string) => {
    const fields = text
      .split('\n')
      .find(line => line.startsWith(`${backend},${server},`))
      ?.split(',')
    return fields?.[17] === 'UP'
  }
  return ['node1', 'node2'].filter(server => isUp('http', server) && isUp('mqtt', server)).length
}
