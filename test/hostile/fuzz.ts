import { setTimeout as delay } from 'node:timers/promises'
import { type HealthyClients, startHealthyClients } from './healthy-clients.ts'
import { type HostileServer, startHostileServer } from './hostile-server.ts'
import { mutateHttp, mutateMqtt } from './mutate.ts'
import { loadOrdinarily } from './ordinary-load.ts'
import { playTables } from './tables.ts'

export interface FuzzSetup {
  /** Of mutation, all rounds together. */
  readonly seconds: number
  /** The same one gives the same inputs. */
  readonly seed: number
  readonly rounds: number
  /** Seconds of ordinary load before anything is measured. */
  readonly warmUp: number
  /** Called with the seconds of mutation that are over, and the step that runs. */
  readonly onProgress?: (seconds: number, doing: string) => void
}

export type FuzzResult = Awaited<ReturnType<typeof fuzz>>
export type Standing = Awaited<ReturnType<typeof standing>>

/** Seconds in which the healthy clients are alone. */
const quietTime = 5

/** Feeds one server both tables and mutated input at both doors, round by round, with a healthy client at each door. */
export async function fuzz(setup: FuzzSetup) {
  const hostile = await startHostileServer()
  try {
    const clients = await startHealthyClients(hostile.server, hostile.healthy)
    const result = await fuzzServer(hostile, clients, setup).finally(() => clients.stop())
    const { code, signal } = await hostile.end()
    if (code !== 0) result.findings.push(`the server ended with ${code ?? signal}`)
    return result
  } finally {
    await hostile.end()
  }
}

async function fuzzServer(hostile: HostileServer, clients: HealthyClients, setup: FuzzSetup) {
  const { seconds, seed, rounds: count, warmUp, onProgress = () => {} } = setup
  onProgress(0, 'an ordinary load')
  await loadOrdinarily(hostile, warmUp)
  reset(clients)
  await delay(quietTime * 1_000)
  const quiet = await standing(hostile, clients)
  const rounds: Awaited<ReturnType<typeof playRound>>[] = []
  const served = { http: 0, mqtt: 0 }
  for (let round = 0; round < count; round++) {
    reset(clients)
    const report = (past: number, doing: string) =>
      onProgress((seconds * round) / count + past, `round ${round + 1}: ${doing}`)
    rounds.push(await playRound(hostile, clients, seconds / count, seed + round, report))
    served.http += clients.http.count
    served.mqtt += clients.mqtt.count
  }
  onProgress(seconds, 'done')
  const findings = [
    ...rounds.flatMap(round => round.findings),
    ...[...clients.http.failures, ...clients.mqtt.failures].map(failure => `a healthy client: ${failure}`),
    ...hostile.defects().map(line => `the log: ${line}`),
  ]
  return { quiet, rounds, served, findings }
}

async function playRound(
  hostile: HostileServer,
  clients: HealthyClients,
  seconds: number,
  seed: number,
  report: (past: number, doing: string) => void,
) {
  report(0, 'the tables')
  const table = await playTables(hostile)
  const started = performance.now()
  const onProgress = () => report(Math.min(seconds, (performance.now() - started) / 1_000), 'mutated input')
  const mutation = { hostile, seed, seconds, onProgress }
  const [http, mqtt] = await Promise.all([mutateHttp(mutation), mutateMqtt(mutation)])
  return {
    ...(await standing(hostile, clients)),
    inputs: { table: table.played, http: http.sent, mqtt: mqtt.sent },
    findings: [...table.findings, ...http.findings, ...mqtt.findings],
  }
}

/** How the server stands, and the longest time from an ack of the healthy client of each door to the next, milliseconds. */
async function standing(hostile: HostileServer, { http, mqtt }: HealthyClients) {
  const gaps = { http: http.longestGap, mqtt: mqtt.longestGap }
  return { server: await hostile.condition(), gaps }
}

function reset({ http, mqtt }: HealthyClients): void {
  http.reset()
  mqtt.reset()
}
