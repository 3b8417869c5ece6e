import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../api/http.ts'

/** The answer of `GET /dashboard.json`. */
interface ServerFacts {
  /** Absent if the host serves no MQTT. */
  readonly mqttPort?: number
  /** Absent without TLS. */
  readonly mqttsPort?: number
  /** Whether it listens on the addresses of its own machine alone. */
  readonly loopback: boolean
}

/** Where the server listens; without an answer, the port that MQTT has by default. */
export function useServerFacts(api: Api): ServerFacts {
  const [facts, setFacts] = useState<ServerFacts>({ mqttPort: 1883, loopback: false })
  useEffect(() => {
    api.get<ServerFacts>('/dashboard.json').then(setFacts, () => {})
  }, [api])
  return facts
}
