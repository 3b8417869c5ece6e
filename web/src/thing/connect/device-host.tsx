import { deviceHost, reachProblem } from './host.ts'
import { ReachNotice } from './reach-notice.tsx'
import type { ServerFacts } from './server-facts.ts'

interface DeviceHostProps {
  readonly host: string
  readonly facts: ServerFacts
  readonly onHost: (host: string) => void
}

/** Where a device reaches the server, which may have other names in its network than in this browser. */
export function DeviceHost({ host, facts, onHost }: DeviceHostProps) {
  return (
    <>
      <p class="host">
        <label for="device-host">Server address for the device</label>{' '}
        <input
          id="device-host"
          value={host}
          autocomplete="off"
          spellcheck={false}
          onInput={event => onHost(event.currentTarget.value)}
        />
      </p>
      <ReachNotice problem={reachProblem(deviceHost(host), location.hostname, facts.loopback)} />
    </>
  )
}
