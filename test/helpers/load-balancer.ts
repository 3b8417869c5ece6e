import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { Child } from './child.ts'
import { freePort } from './redis-server.ts'
import type { ServerProcess } from './server-process.ts'
import { eventually } from './waiting.ts'

export type LoadBalancer = Awaited<ReturnType<typeof startLoadBalancer>>

/**
 * Starts HAProxy with config/haproxy.cfg in front of nodes that trust 127.0.0.1, and waits until it gives clients to all of
 * them. Whoever starts it ends it.
 *
 * @throws Error how to install it where there is none
 */
export async function startLoadBalancer(nodes: readonly ServerProcess[]) {
  const [httpPort, mqttPort, statisticsPort] = [await freePort(), await freePort(), await freePort()]
  const directory = await mkdtemp(join(tmpdir(), 'thingwire-haproxy-'))
  const file = join(directory, 'haproxy.cfg')
  await writeFile(file, await configuration(nodes, { httpPort, mqttPort, statisticsPort }))
  const child = new Child('haproxy', ['-db', '-f', file], { debianPackage: 'haproxy' })
  const balancer = {
    url: `http://127.0.0.1:${httpPort}`,
    mqttUrl: `mqtt://127.0.0.1:${mqttPort}`,
    webSocketUrl: `ws://127.0.0.1:${httpPort}/mqtt`,
    /** How many of the nodes it gives clients. */
    ready: () => readyServers(`http://127.0.0.1:${statisticsPort}/;csv`),
    end: async () => {
      await child.end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
  // There is no event for it.
  const ended = child.exited.then(({ stderr }) => Promise.reject(new Error(`haproxy has ended: ${stderr}`)))
  const areReady = async () => (await Promise.race([balancer.ready(), ended])) === nodes.length
  if (!(await eventually(areReady))) throw new Error('the load balancer does not find the nodes ready')
  return balancer
}

/** The one that is shipped, with the places of these nodes, and none of Docker's. */
async function configuration(
  nodes: readonly ServerProcess[],
  ports: { httpPort: number; mqttPort: number; statisticsPort: number },
): Promise<string> {
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
  const lines = parse<Record<string, string>>(text.replace(/^# /, ''), { columns: true })
  const up = lines.filter(({ pxname, status }) => /^(http|mqtt)$/.test(pxname ?? '') && status === 'UP')
  const isUp = (node: string) => up.filter(({ svname }) => svname === node).length === 2
  return ['node1', 'node2'].filter(isUp).length
}
