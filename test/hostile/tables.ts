import { isDeepStrictEqual } from 'node:util'
import type { HostileServer } from './hostile-server.ts'
import { httpCases } from './http/cases/index.ts'
import { playCase } from './http/play.ts'
import { hostileCases } from './mqtt/cases/index.ts'
import { play } from './mqtt/play.ts'

/** One input of either table on a connection of its own; `problems` gives what came back that should not have. */
interface Play {
  readonly name: string
  readonly problems: () => Promise<readonly string[]>
}

/** Plays every input, and every third one again: behind a good request, or over WebSocket. */
export async function playTables(hostile: HostileServer) {
  const findings: string[] = []
  const plays = [...httpPlays(hostile), ...mqttPlays(hostile)]
  for (const { name, problems } of plays) {
    const found = await problems()
    if (found.length > 0) findings.push(`${name}: ${found.join('; ')}`)
  }
  return { played: plays.length, findings }
}

function httpPlays({ server, target }: HostileServer): Play[] {
  const settings = ['fresh', 'behind a good request'] as const
  return each(httpCases, settings, (group, setting, hostileCase) => ({
    name: `HTTP ${group}, ${setting}: ${hostileCase.name}`,
    problems: () => playCase(server.url, hostileCase, target, setting),
  }))
}

function mqttPlays({ server, target }: HostileServer): Play[] {
  return each(hostileCases, [server.mqttUrl, server.webSocketUrl], (group, url, hostileCase) => ({
    name: `MQTT ${group}: ${hostileCase.name}`,
    problems: async () => {
      const { answers, outcome } = hostileCase
      const seen = await play(hostileCase, url, target).catch((error: Error) => error.message)
      return isDeepStrictEqual(seen, { answers, outcome }) ? [] : [JSON.stringify(seen)]
    },
  }))
}

function each<Case, Way>(
  groups: Readonly<Record<string, readonly Case[]>>,
  ways: readonly Way[],
  playOf: (group: string, way: Way, hostileCase: Case) => Play,
): Play[] {
  return Object.entries(groups).flatMap(([group, cases]) =>
    cases.flatMap((hostileCase, place) =>
      ways.slice(0, place % 3 === 0 ? ways.length : 1).map(way => playOf(group, way, hostileCase)),
    ),
  )
}
