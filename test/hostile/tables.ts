import { isDeepStrictEqual } from 'node:util'
import type { HostileServer } from './hostile-server.ts'
import { httpCases } from './http/cases/index.ts'
import { playCase, type Setting } from './http/play.ts'
import { hostileCases } from './mqtt/cases/index.ts'
import { play } from './mqtt/play.ts'

/** How much was played, and what came back that should not have. */
export interface TableResult {
  readonly played: number
  readonly findings: readonly string[]
}

/** Every third input behind a good request, too. */
export async function playHttpTable({ server, target }: HostileServer): Promise<TableResult> {
  const findings: string[] = []
  let played = 0
  for (const [group, cases] of Object.entries(httpCases)) {
    for (const [place, hostileCase] of cases.entries()) {
      const settings: readonly Setting[] = place % 3 === 0 ? ['fresh', 'behind a good request'] : ['fresh']
      for (const setting of settings) {
        played++
        const problems = await playCase(server.url, hostileCase, target, setting)
        if (problems.length > 0)
          findings.push(`HTTP ${group}, ${setting}: ${hostileCase.name}: ${problems.join('; ')}`)
      }
    }
  }
  return { played, findings }
}

/** Over TCP, and every third input over WebSocket, too. */
export async function playMqttTable({ server, things }: HostileServer): Promise<TableResult> {
  const target = { thing: things[0], other: things[1] }
  const findings: string[] = []
  let played = 0
  for (const [group, cases] of Object.entries(hostileCases)) {
    for (const [place, hostileCase] of cases.entries()) {
      const urls = place % 3 === 0 ? [server.mqttUrl, server.webSocketUrl] : [server.mqttUrl]
      for (const url of urls) {
        played++
        const { answers, outcome } = hostileCase
        const seen = await play(hostileCase, url, target).catch((error: Error) => error.message)
        if (!isDeepStrictEqual(seen, { answers, outcome }))
          findings.push(`MQTT ${group}: ${hostileCase.name}: ${JSON.stringify(seen)}`)
      }
    }
  }
  return { played, findings }
}
