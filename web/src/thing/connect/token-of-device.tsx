import { useState } from 'preact/hooks'
import { addToken } from '../../api/admin.ts'
import type { Api } from '../../api/http.ts'
import type { Principal } from '../../api/principal.ts'
import { CopyButton } from '../../controls/copy-button.tsx'
import { placeholder, tokenProblem, typedToken } from './device-token.ts'

interface TokenOfDeviceProps {
  readonly principal: Principal
  readonly api: Api
  readonly thingId: string
  /** The token in the programs; undefined if it is not known. */
  readonly token: string | undefined
  readonly onToken: (token: string | undefined) => void
}

/** Shows which token is in the programs. Accepts a pasted token, and creates a token for the operator. */
export function TokenOfDevice({ principal, api, thingId, token, onToken }: TokenOfDeviceProps) {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  if (principal.kind === 'thing')
    return <p>The programs contain your token. Everybody who has it can write as this thing.</p>

  async function make(): Promise<void> {
    setIsBusy(true)
    try {
      onToken((await addToken(api, thingId)).thingToken)
      setProblem('')
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
    setIsBusy(false)
  }
  return (
    <>
      <p class="token">
        <label for="device-token">The thing’s token</label>{' '}
        <input
          id="device-token"
          value={token ?? ''}
          size={45}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="device-token-state"
          onInput={event => onToken(typedToken(event.currentTarget.value))}
        />{' '}
        {token !== undefined && <CopyButton text={token} label="Copy token" />}
        {token === undefined && principal.kind === 'admin' && (
          <button type="button" disabled={isBusy} onClick={make}>
            Make a token for this device
          </button>
        )}
        {problem !== '' && <span role="alert"> No token was made: {problem}</span>}
      </p>
      <p id="device-token-state" class="muted">
        {tokenProblem(token) ??
          'The programs below contain it. Keep it now: this page forgets it when you sign out or reload.'}
      </p>
    </>
  )
}
