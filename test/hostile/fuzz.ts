import { setTimeout as delay } from 'node:timers/promises'
import { type HealthyClients, startHealthyClients } from './healthy-clients.ts'
import { type Condition, type HostileServer, startHostileServer } from './hostile-server.ts'
import { type MutationResult, mutateHttp, mutateMqtt } from './mutate.ts'
import { loadOrdinarily } from './ordinary-load.ts'
import { playHttpTable, playMqttTable, type TableResult } from './tables.ts'

export interface FuzzSetup {
  /** Of mutation, all rounds together. */
  readonly seconds: number
  /** The same one gives the same inputs. */
  readonly seed: number
  readonly rounds: number
  /** Of ordinary load, before anything is measured. */
  readonly warmUp: number
  /** Called with the seconds of mutation that are over, and the step that runs. */
  readonly onProgress?: (seconds: number, doing: string) => void
}

/** How the server stood at a time. */
export interface Standing {
  readonly server: Condition
  /** Of the healthy client of each door, milliseconds: longest time from an ack to the next. */
  readonly gaps: { readonly http: number; readonly mqtt: number }
}

export interface Round extends Standing {
  readonly table: TableResult
  readonly http: MutationResult
  readonly mqtt: MutationResult
}

export interface FuzzResult {
  /** Behind the ordinary load, with none but the healthy clients there. */
  readonly quiet: Standing
  readonly rounds: readonly Round[]
  /** Good requests that the healthy clients sent and saw answered. */
  readonly served: { readonly http: number; readonly mqtt: number }
  /** All that was not as it should be, memory and gaps apart. */
  readonly findings: readonly string[]
}

/** Seconds in which the healthy clients are alone. */
const quietTime = 5

/** Feeds one server both tables and mutated input at both doors, round by round, with a healthy client at each door. */
export async function fuzz(setup: FuzzSetup): Promise<FuzzResult> {
  const hostile = await startHostileServer()
  try {
    const clients = await startHealthyClients(hostile.server, hostile.healthy)
    const result = await fuzzServer(hostile, clients, setup).finally(() => clients.stop())
    const { code, signal } = await hostile.end()
    if (code !== 0)
      return { ...result, findings: [...result.findings, `the server ended with ${code ?? signal}`] }
    return result
  } finally {
    await hostile.end()
  }
}

async function fuzzServer(
  hostile: HostileServer,
  clients: HealthyClients,
  setup: FuzzSetup,
): Promise<FuzzResult> {
  const { seconds, seed, rounds: count, warmUp, onProgress = () => {} } = setup
  onProgress(0, 'an ordinary load')
  await loadOrdinarily(hostile, warmUp)
  reset(clients)
  await delay(quietTime * 1_000)
  const quiet = await standing(hostile, clients)
  const [rounds, served]: [Round[], { http: number; mqtt: number }] = [[], { http: 0, mqtt: 0 }]
  for (let round = 0; round < count; round++) {
    reset(clients)
    const done = (seconds * round) / count
    rounds.push(
      await playRound(hostile, clients, {
        seconds: seconds / count,
        seed: seed + round,
        report: (past, doing) => onProgress(done + past, `round ${round + 1}: ${doing}`),
      }),
    )
    served.http += clients.http.count
    served.mqtt += clients.mqtt.count
  }
  onProgress(seconds, 'done')
  const findings = [
    ...rounds.flatMap(({ table, http, mqtt }) => [...table.findings, ...http.findings, ...mqtt.findings]),
    ...[...clients.http.failures, ...clients.mqtt.failures].map(failure => `a healthy client: ${failure}`),
    ...hostile.defects().map(line => `the log: ${line}`),
  ]
  return { quiet, rounds, served, findings }
}

interface RoundSetup {
  readonly seconds: number
  readonly seed: number
  readonly report: (past: number, doing: string) => void
}

async function playRound(
  hostile: HostileServer,
  clients: HealthyClients,
  { seconds, seed, report }: RoundSetup,
): Promise<Round> {
  report(0, 'the tables')
  const [httpTable, mqttTable] = [await playHttpTable(hostile), await playMqttTable(hostile)]
  const started = performance.now()
  const onProgress = () => report(Math.min(seconds, (performance.now() - started) / 1_000), 'mutated input')
  const mutation = { hostile, seed, seconds, onProgress }
  const [http, mqtt] = await Promise.all([mutateHttp(mutation), mutateMqtt(mutation)])
  const table = {
    played: httpTable.played + mqttTable.played,
    findings: [...httpTable.findings, ...mqttTable.findings],
  }
  return { table, http, mqtt, ...(await standing(hostile, clients)) }
}

async function standing(hostile: HostileServer, { http, mqtt }: HealthyClients): Promise<Standing> {
  const gaps = { http: http.longestGap, mqtt: mqtt.longestGap }
  return { server: await hostile.condition(), gaps }
}

function reset({ http, mqtt }: HealthyClients): void {
  http.reset()
  mqtt.reset()
}
