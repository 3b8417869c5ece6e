import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../api/http.ts'

/** The answer of `GET /dashboard.json`. */
export interface ServerFacts {
  /** Absent if MQTT is not served. */
  readonly mqttPort?: number
  /** Absent if MQTT over TLS is not served. */
  readonly mqttsPort?: number
  /** Whether other machines can reach the server only through a proxy. */
  readonly loopback: boolean
}

/** Where the server listens. Until there is an answer, the default MQTT port. */
export function useServerFacts(api: Api): ServerFacts {
  const [facts, setFacts] = useState<ServerFacts>({ mqttPort: 1883, loopback: false })
  useEffect(() => {
    api.get<ServerFacts>('/dashboard.json').then(setFacts, () => {})
  }, [api])
  return facts
}
